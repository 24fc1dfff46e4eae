-- Who relays which buckets: 16 ranges of 16 buckets, always these, because rows keep the bucket they were written with.
CREATE TABLE IF NOT EXISTS outbox_lease (
    slot smallint NOT NULL,
    first_bucket smallint NOT NULL,
    last_bucket smallint NOT NULL,
    epoch bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL DEFAULT 'epoch',
    owner varchar(100),
    CONSTRAINT outbox_lease_pkey PRIMARY KEY (slot)
) WITH (
    -- Room for the renewals, each a heap-only update.
    fillfactor = 50
);

INSERT INTO outbox_lease (slot, first_bucket, last_bucket)
SELECT number, number * 16, number * 16 + 15
FROM generate_series(0, 15) AS slots (number)
ON CONFLICT DO NOTHING;
