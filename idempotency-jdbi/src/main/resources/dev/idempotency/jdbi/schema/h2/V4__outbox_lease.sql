-- Who relays which buckets: 16 ranges of 16 buckets, always these, because rows keep the bucket they were written with.
CREATE TABLE IF NOT EXISTS outbox_lease (
    slot SMALLINT NOT NULL,
    first_bucket SMALLINT NOT NULL,
    last_bucket SMALLINT NOT NULL,
    epoch BIGINT NOT NULL DEFAULT 0,
    expires_at TIMESTAMP(6) WITH TIME ZONE NOT NULL DEFAULT TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00',
    owner VARCHAR(100),
    CONSTRAINT outbox_lease_pkey PRIMARY KEY (slot)
);

INSERT INTO outbox_lease (slot, first_bucket, last_bucket)
SELECT X, X * 16, X * 16 + 15
FROM SYSTEM_RANGE(0, 15)
WHERE NOT EXISTS (SELECT 1 FROM outbox_lease);
