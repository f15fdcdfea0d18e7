-- Breaks nothing: one more counter. Processor time that the code of a workspace used in a minute.

alter table usage_counters drop constraint usage_counters_quota_check;
alter table usage_counters add constraint usage_counters_quota_check check (quota in ('runs_per_month', 'storage_bytes', 'records',
  'mails_per_minute', 'outside_recipients_per_day', 'model_tokens_per_minute', 'model_tokens_per_month',
  'speech_characters_per_minute', 'transcription_s_per_minute', 'outgoing_requests_per_minute', 'cpu_ms_per_minute'));
