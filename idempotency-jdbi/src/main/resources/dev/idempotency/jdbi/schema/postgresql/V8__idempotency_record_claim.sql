-- What a claim with a lease is known again by, when its commit got no answer and when it is ended: the token tells the order
-- of claims, and two of them can have the same one (a claim that was rolled back, a clock that was set back). Null where
-- there is no lease: in what a transaction wrote complete, and once the claim has been released.
ALTER TABLE idempotency_record ADD COLUMN IF NOT EXISTS
    claim_id uuid;
