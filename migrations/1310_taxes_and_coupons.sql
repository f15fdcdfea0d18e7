-- Breaks nothing: taxes and coupons of plans, the coupon of a subscription, and where an invoice is a PDF.

-- {"name": "VAT", "percent": 19}; null: no tax is added.
alter table plans add column tax jsonb;
-- [{"code", "percent_off", "duration", "expires_at"}]; only operators are shown the codes.
alter table plans add column coupons jsonb not null default '[]';

-- {"code", "percent_off", "until"}; null until: for as long as the plan stays.
alter table billing_subscriptions add column discount jsonb;

-- The provider's own PDF; the built-in one is signed when it is asked for.
alter table invoices add column pdf_url text;
