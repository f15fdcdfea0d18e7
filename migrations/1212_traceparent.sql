-- Breaks nothing: a column that may be null. The trace of the caller that a run belongs to, as W3C Trace Context writes it.

alter table executions add column traceparent text;
