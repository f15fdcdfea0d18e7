-- Breaks nothing: an embed token can be shown again. It stands in pages that anybody reads, so it is no secret; null: made before.
alter table embed_tokens add column public_token text;
