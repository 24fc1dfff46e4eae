-- Who relays which buckets: 16 ranges of 16 buckets, always these, because rows keep the bucket they were written with.
CREATE TABLE IF NOT EXISTS outbox_lease (
    slot SMALLINT NOT NULL,
    first_bucket SMALLINT NOT NULL,
    last_bucket SMALLINT NOT NULL,
    epoch BIGINT NOT NULL DEFAULT 0,
    expires_at DATETIME(6) NOT NULL DEFAULT '1970-01-01',
    owner VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin,
    PRIMARY KEY (slot)
) ENGINE = InnoDB;

INSERT IGNORE INTO outbox_lease (slot, first_bucket, last_bucket)
VALUES (0, 0, 15), (1, 16, 31), (2, 32, 47), (3, 48, 63), (4, 64, 79), (5, 80, 95), (6, 96, 111), (7, 112, 127),
(8, 128, 143), (9, 144, 159), (10, 160, 175), (11, 176, 191), (12, 192, 207), (13, 208, 223), (14, 224, 239),
(15, 240, 255);
