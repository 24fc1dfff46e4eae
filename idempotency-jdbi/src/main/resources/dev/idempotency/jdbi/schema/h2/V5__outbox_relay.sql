-- The relays that run now, so that they can share the ranges of buckets fairly.
CREATE TABLE IF NOT EXISTS outbox_relay (
    owner VARCHAR(100) NOT NULL,
    expires_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    CONSTRAINT outbox_relay_pkey PRIMARY KEY (owner)
);
