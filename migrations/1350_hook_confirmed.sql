-- Breaks nothing: new columns with defaults. A registration at a vendor that was begun and never confirmed is taken back.

-- The registration that the vendor confirmed last. One that was begun after it may exist at the vendor without our knowing its number.
alter table service_triggers add column hook_confirmed bigint not null default 0;
update service_triggers set hook_confirmed = hook_generation where kind = 'webhook';

-- Of a trigger whose registration was under way when it was deleted: what the vendor lists for it is taken back.
alter table service_trigger_removals add column unconfirmed_trigger_id uuid;
alter table service_trigger_removals add column registered boolean not null default true;
