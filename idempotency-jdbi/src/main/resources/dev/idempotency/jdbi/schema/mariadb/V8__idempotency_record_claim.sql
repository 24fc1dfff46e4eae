-- The id of a claim, which the first version of this table already has on MariaDB.
ALTER TABLE idempotency_record ADD COLUMN IF NOT EXISTS
    claim_id BINARY(16);
