-- Breaks nothing: new columns; a process of an earlier release does not renew, and what it registers is renewed by nobody until it is registered again.

-- When the registration ends at the vendor, and when it is to be renewed. Null: it stays until it is taken back.
alter table service_triggers add column expires_at timestamptz;
alter table service_triggers add column renew_at timestamptz;
-- Why it could not be renewed; told to people when it is set.
alter table service_triggers add column renewal_error text;
