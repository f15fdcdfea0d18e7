-- Breaks nothing: a column. A process of an earlier release does not write it. The person who chose the channel of an alert rule.

-- A message is sent through the channel only while this person may see what the rule watches. Null: the person who made the rule.
alter table alert_rules add column channel_by uuid references users on delete set null;
