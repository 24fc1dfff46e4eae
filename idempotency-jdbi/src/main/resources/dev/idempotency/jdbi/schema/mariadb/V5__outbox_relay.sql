-- The relays that run now, so that they can share the ranges of buckets fairly.
CREATE TABLE IF NOT EXISTS outbox_relay (
    owner VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    expires_at DATETIME(6) NOT NULL,
    PRIMARY KEY (owner)
) ENGINE = InnoDB;
