-- Breaks nothing: new columns. Files that come in by conversations: uploads of visitors, and attachments in channels and mails.

-- The visitor who uploaded it, or the conversation of a channel in which it came. Runs that the conversation starts may take it. It is no
-- foreign key: visitors have no table, and a file that no run holds goes after a day.
alter table files add column sender_id uuid;
create index files_by_sender on files (workspace_id, sender_id) where sender_id is not null;

-- Where the attachments of a message are: [{name, media_type, ref}] at the vendor, or [{"$file": …}] where the message brought them along.
alter table channel_deliveries add column files jsonb not null default '[]';
