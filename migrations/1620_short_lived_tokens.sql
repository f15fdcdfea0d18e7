-- Breaks nothing: a new column with a default.

-- The number of seconds before the expiry of a token at which it is renewed. A token that is valid for less than two
-- minutes is renewed after half of its time. Before, it was renewed with every call.
alter table credentials add column renew_before_s integer not null default 60;
