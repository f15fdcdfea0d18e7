-- Breaks nothing: new columns. What vendors answered while the code of a piece registered, until that is confirmed: after a crash it is found by it.
alter table service_triggers add column hook_exchanges jsonb;
alter table service_trigger_removals add column exchanges jsonb;
