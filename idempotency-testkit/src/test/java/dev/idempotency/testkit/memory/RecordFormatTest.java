package dev.idempotency.testkit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.KeyDerivation;
import dev.idempotency.Operation;
import dev.idempotency.OperationOutcome;
import dev.idempotency.Protection;
import dev.idempotency.RecordFormat;
import dev.idempotency.RecordId;
import dev.idempotency.RecordedResult;
import dev.idempotency.RecordedResult.Replayable;
import dev.idempotency.Scope;
import dev.idempotency.StoreUnavailableException;
import dev.idempotency.WorkResult;
import dev.idempotency.spi.AnswerEncoding;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the store is given of keys and answers, and that the engines never notice. */
class RecordFormatTest {
    private static final Scope SCOPE = Scope.ofPrincipal("anne", "charge");
    private static final IdempotencyKey KEY = IdempotencyKey.of("invoice 4711");
    private static final RecordId ID = new RecordId(SCOPE, KEY);
    private static final Replayable ANSWER = new Replayable(
            201,
            "the headers".getBytes(StandardCharsets.UTF_8),
            "answer ".repeat(500).getBytes(StandardCharsets.UTF_8));

    private final InMemoryDatabase database = InMemoryDatabase.create();
    private final InMemoryIdempotencyStore store = InMemoryIdempotencyStore.of(database);
    private final AtomicInteger runs = new AtomicInteger();

    private Idempotency engine(RecordFormat format) {
        return Idempotency.builder()
                .transactional(store, database)
                .leased(store)
                .records(format)
                .build();
    }

    private static Operation operation(RecordId id, Protection protection) {
        return Operation.of(id, Fingerprint.sha256("test", new byte[] {1}), protection);
    }

    private OperationOutcome run(RecordFormat format, Protection protection, RecordedResult answer) {
        try (Idempotency engine = engine(format)) {
            return engine.<RuntimeException>execute(operation(ID, protection), context -> {
                runs.incrementAndGet();
                return new WorkResult.Succeeded(answer);
            });
        }
    }

    private OperationOutcome run(RecordFormat format) {
        return run(format, Protection.TRANSACTIONAL, ANSWER);
    }

    private static OperationOutcome replayed(Replayable answer) {
        return new OperationOutcome.Replayed(answer);
    }

    /** The only record, as the store has it. */
    private InMemoryIdempotencyStore.Entry stored() {
        assertThat(store.entries).hasSize(1);
        return store.entries.values().iterator().next();
    }

    private Replayable storedAnswer() {
        return (Replayable) Objects.requireNonNull(stored().result);
    }

    private String storedKey() {
        return stored().claim.request().id().key().value();
    }

    private void forge(byte[] metadata, byte[] body) {
        store.entries.replaceAll((identity, entry) -> entry.completed(new Replayable(201, metadata, body)));
    }

    private static boolean contains(byte[] bytes, byte[] part) {
        for (int i = 0; i + part.length <= bytes.length; i++) {
            if (Arrays.equals(bytes, i, i + part.length, part, 0, part.length)) {
                return true;
            }
        }
        return false;
    }

    @ParameterizedTest
    @EnumSource
    void hashedKeys_storeHasAHash_andRepeatsAreRecognised(Protection protection) {
        RecordFormat hashed = RecordFormat.ofDefaults().withHashedKeys();
        assertThat(run(hashed, protection, ANSWER)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(storedKey()).matches("[0-9a-f]{64}");
        assertThat(run(hashed, protection, ANSWER)).isEqualTo(replayed(ANSWER));
        assertThat(runs).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource
    void hashedKeys_workSeesTheKeyItself_andDerivesTheSame(Protection protection) {
        try (Idempotency engine = engine(RecordFormat.ofDefaults().withHashedKeys())) {
            engine.<RuntimeException>execute(operation(ID, protection), context -> {
                assertThat(context.id()).isEqualTo(ID);
                assertThat(context.derive("step"))
                        .isEqualTo(KeyDerivation.of("idempotency").derive(ID, "step"));
                return new WorkResult.Succeeded(ANSWER);
            });
        }
    }

    @Test
    void hashedKeys_oneKeyOfTwoCallers_showsNotThatItIsOne() {
        try (Idempotency engine = engine(RecordFormat.ofDefaults().withHashedKeys())) {
            for (String caller : new String[] {"anne", "bert"}) {
                RecordId id = new RecordId(Scope.ofPrincipal(caller, "charge"), KEY);
                engine.<RuntimeException>execute(
                        operation(id, Protection.TRANSACTIONAL), context -> new WorkResult.Succeeded(ANSWER));
            }
        }
        assertThat(store.entries.values().stream()
                        .map(entry -> entry.claim.request().id().key())
                        .distinct())
                .hasSize(2);
    }

    @Test
    void hashedKeys_leasedWorkThatFailedWithoutEffect_givesTheClaimBack() {
        try (Idempotency engine = engine(RecordFormat.ofDefaults().withHashedKeys())) {
            Operation operation = operation(ID, Protection.LEASED);
            assertThatThrownBy(() -> engine.execute(operation, RecordFormatTest::failWithoutEffect))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(engine.<RuntimeException>execute(operation, context -> new WorkResult.Succeeded(ANSWER)))
                    .isInstanceOf(OperationOutcome.Executed.class);
        }
    }

    private static WorkResult failWithoutEffect(IdempotencyContext context) {
        context.markNoEffect();
        throw new IllegalStateException("nothing happened");
    }

    @ParameterizedTest
    @EnumSource
    void forget_hashedOrNot_freesTheKey(Protection protection) {
        for (RecordFormat format : new RecordFormat[] {
            RecordFormat.ofDefaults(), RecordFormat.ofDefaults().withHashedKeys()
        }) {
            run(format, protection, ANSWER);
            try (Idempotency engine = engine(format)) {
                assertThat(engine.forget(SCOPE, IdempotencyKey.of("another"))).isFalse();
                assertThat(engine.forget(Scope.ofPrincipal("bert", "charge"), KEY))
                        .isFalse();
                assertThat(engine.forget(SCOPE, KEY)).isTrue();
                assertThat(engine.forget(SCOPE, KEY)).isFalse();
            }
            assertThat(store.entries).isEmpty();
        }
    }

    @Test
    void forget_workUnderTheKeyRuns_isRefused() {
        try (Idempotency engine = engine(RecordFormat.ofDefaults().withHashedKeys())) {
            engine.<RuntimeException>execute(operation(ID, Protection.LEASED), context -> {
                assertThat(engine.forget(SCOPE, KEY)).isFalse();
                return new WorkResult.Succeeded(ANSWER);
            });
            assertThat(engine.forget(SCOPE, KEY)).isTrue();
        }
    }

    @Test
    void forgetCaller_moreRecordsThanABatch_forgetsThemAllAndNobodyElses() {
        try (Idempotency engine = engine(RecordFormat.ofDefaults().withHashedKeys())) {
            for (int i = 0; i < 2_001; i++) {
                RecordId id = new RecordId(Scope.ofPrincipal("anne", "charge " + i % 3), IdempotencyKey.of("key-" + i));
                engine.<RuntimeException>execute(
                        operation(id, Protection.TRANSACTIONAL), context -> new WorkResult.Succeeded(ANSWER));
            }
            RecordId others = new RecordId(Scope.ofPrincipal("bert", "charge 1"), KEY);
            engine.<RuntimeException>execute(
                    operation(others, Protection.TRANSACTIONAL), context -> new WorkResult.Succeeded(ANSWER));
            assertThat(engine.forgetCaller(SCOPE)).isEqualTo(2_001);
            assertThat(engine.forgetCaller(SCOPE)).isZero();
        }
        assertThat(store.entries).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void compression_largeAnswer_isStoredSmallerAndReadByEveryFormat(Protection protection) {
        run(RecordFormat.ofDefaults().withCompression(), protection, ANSWER);
        assertThat(storedAnswer().body().length).isLessThan(ANSWER.body().length / 10);
        assertThat(run(RecordFormat.ofDefaults().withCompression(), protection, ANSWER))
                .isEqualTo(replayed(ANSWER));
        assertThat(run(RecordFormat.ofDefaults(), protection, ANSWER)).isEqualTo(replayed(ANSWER));
        assertThat(runs).hasValue(1);
    }

    @Test
    void compression_smallOrRandomAnswer_isStoredAsItIs() {
        byte[] random = new byte[10_000];
        new Random(4711).nextBytes(random);
        for (byte[] body : new byte[][] {new byte[1_000], random}) {
            Replayable answer = new Replayable(200, new byte[0], body);
            run(RecordFormat.ofDefaults().withCompression(), Protection.TRANSACTIONAL, answer);
            assertThat(storedAnswer()).isEqualTo(answer);
            store.entries.clear();
        }
    }

    @Test
    void compression_answerWrittenBefore_isStillRead() {
        run(RecordFormat.ofDefaults());
        assertThat(run(RecordFormat.ofDefaults().withCompression())).isEqualTo(replayed(ANSWER));
    }

    /** The record says that it is small and holds a hundred million zeros. */
    @Test
    void compression_bomb_isNotUnpackedAndNeverRunAgain() throws IOException {
        run(RecordFormat.ofDefaults().withCompression());
        byte[] metadata = storedAnswer().metadata();
        forge(metadata, bomb(100_000_000));
        assertUnavailable(RecordFormat.ofDefaults());
        ByteBuffer.wrap(metadata).putInt(2, Integer.MAX_VALUE);
        forge(metadata, bomb(100_000_000));
        assertUnavailable(RecordFormat.ofDefaults());
    }

    private static byte[] bomb(int bytes) throws IOException {
        ByteArrayOutputStream small = new ByteArrayOutputStream();
        try (DeflaterOutputStream output =
                new DeflaterOutputStream(small, new Deflater(Deflater.BEST_COMPRESSION, true))) {
            for (int i = 0; i < bytes / 1_000_000; i++) {
                output.write(new byte[1_000_000]);
            }
        }
        return small.toByteArray();
    }

    private void assertUnavailable(RecordFormat format) {
        assertThat(run(format))
                .isEqualTo(new OperationOutcome.Unavailable(
                        new RecordedResult.NotReplayable(201, "the stored answer cannot be read")));
        assertThat(runs).hasValue(1);
    }

    @Test
    void answer_damagedAnywhere_isReadOrUnavailableAndNeverRunAgain() {
        RecordFormat format = RecordFormat.ofDefaults().withCompression();
        run(format);
        Replayable whole = storedAnswer();
        for (int i = 1; i < whole.metadata().length; i++) {
            byte[] damaged = whole.metadata().clone();
            damaged[i] ^= 0x55;
            forge(damaged, whole.body());
            assertUnavailable(format);
            forge(Arrays.copyOf(whole.metadata(), i), whole.body());
            assertUnavailable(format);
        }
        for (int i = 0; i < whole.body().length; i += 10) {
            forge(whole.metadata(), Arrays.copyOf(whole.body(), i));
            assertUnavailable(format);
        }
    }

    @Test
    void answer_whoseMetadataLookLikeAnEnvelope_comesBackAsItWas() {
        Replayable odd = new Replayable(7, new byte[] {(byte) 0xff, 1, 0, 0, 0, 0, 0}, new byte[] {1, 2, 3});
        run(RecordFormat.ofDefaults(), Protection.TRANSACTIONAL, odd);
        assertThat(run(RecordFormat.ofDefaults(), Protection.TRANSACTIONAL, odd))
                .isEqualTo(replayed(odd));
    }

    @Test
    void answer_longerThanTheBound_isOverAndNotReplayable() {
        RecordFormat format = RecordFormat.ofDefaults().withLongestAnswer(1024);
        assertThat(run(format)).isInstanceOf(OperationOutcome.Executed.class);
        assertThat(run(format))
                .isEqualTo(new OperationOutcome.Unavailable(
                        new RecordedResult.NotReplayable(201, "the answer has 3511 bytes, more than are kept")));
        assertThat(runs).hasValue(1);
    }

    @Test
    void notReplayable_isStoredAsItIs() {
        RecordedResult.NotReplayable result = new RecordedResult.NotReplayable(200, "streamed");
        RecordFormat format = RecordFormat.ofDefaults().withCompression(0).withEncoding(new Sealed("a", 1));
        run(format, Protection.TRANSACTIONAL, result);
        assertThat(run(format, Protection.TRANSACTIONAL, result)).isEqualTo(new OperationOutcome.Unavailable(result));
    }

    @ParameterizedTest
    @EnumSource
    void encoding_encryption_hidesAnswerAndHeadersAndBindsThemToTheirRecord(Protection protection) {
        RecordFormat format = RecordFormat.ofDefaults().withCompression().withEncoding(new Sealed("a", 1));
        run(format, protection, ANSWER);
        Replayable sealed = storedAnswer();
        assertThat(contains(sealed.metadata(), ANSWER.metadata())).isFalse();
        assertThat(contains(sealed.body(), ANSWER.metadata())).isFalse();
        assertThat(run(format, protection, ANSWER)).isEqualTo(replayed(ANSWER));

        IdempotencyKey otherKey = IdempotencyKey.of("another");
        try (Idempotency engine = engine(format)) {
            Operation other = operation(new RecordId(SCOPE, otherKey), protection);
            engine.<RuntimeException>execute(other, context -> new WorkResult.Succeeded(ANSWER));
            forge(sealed.metadata(), sealed.body());
            assertThat(engine.<RuntimeException>execute(other, context -> {
                        throw new AssertionError("The work ran");
                    }))
                    .isInstanceOf(OperationOutcome.Unavailable.class);
        }
    }

    @Test
    void encoding_takesThePlaceOfAnother_readsWhatThatOneWrote() {
        Sealed old = new Sealed("old", 1);
        Sealed recent = new Sealed("recent", 2);
        run(RecordFormat.ofDefaults().withEncoding(old));
        assertUnavailable(RecordFormat.ofDefaults().withEncoding(recent));
        assertThat(run(RecordFormat.ofDefaults().withEncoding(recent).alsoReading(old)))
                .isEqualTo(replayed(ANSWER));
        assertThat(runs).hasValue(1);
    }

    static List<Throwable> encoderFailures() {
        return List.of(new IllegalStateException("no key"), new NoClassDefFoundError("no cipher"));
    }

    @ParameterizedTest
    @MethodSource("encoderFailures")
    void encoding_thatCannotWrite_transactional_leavesNothing(Throwable failure) {
        assertThat(run(RecordFormat.ofDefaults().withEncoding(new Broken(failure))))
                .isInstanceOf(OperationOutcome.NotCommitted.class);
        assertThat(store.entries).isEmpty();
    }

    /** The effect has happened: without a record it would happen again after the lease. */
    @ParameterizedTest
    @MethodSource("encoderFailures")
    void encoding_thatCannotWrite_leased_isOverAndNeverRunAgain(Throwable failure) {
        RecordFormat format = RecordFormat.ofDefaults().withEncoding(new Broken(failure));
        assertThat(run(format, Protection.LEASED, ANSWER)).isInstanceOf(OperationOutcome.Executed.class);
        OperationOutcome over = new OperationOutcome.Unavailable(
                new RecordedResult.NotReplayable(201, "the answer could not be encoded"));
        assertThat(run(format, Protection.LEASED, ANSWER)).isEqualTo(over);
        database.passTime(Duration.ofHours(2));
        assertThat(run(format, Protection.LEASED, ANSWER)).isEqualTo(over);
        assertThat(runs).hasValue(1);
    }

    @Test
    void encoding_thatCannotWriteForNow_leased_isNeverReleased() {
        RecordFormat format =
                RecordFormat.ofDefaults().withEncoding(new Broken(new StoreUnavailableException("later", null)));
        assertThat(run(format, Protection.LEASED, ANSWER)).isInstanceOf(OperationOutcome.Unknown.class);
        assertThat(stored().result).as("never released after its effect").isNull();
        assertThat(run(format, Protection.LEASED, ANSWER)).isInstanceOf(OperationOutcome.InProgress.class);
    }

    @ParameterizedTest
    @EnumSource
    void encoding_thatCannotReadForNow_isAStoreThatIsNotThere(Protection protection) {
        run(RecordFormat.ofDefaults().withEncoding(new Sealed("a", 1)), protection, ANSWER);
        Broken broken = new Broken(new StoreUnavailableException("The keys are elsewhere: try again", null));
        assertThat(run(RecordFormat.ofDefaults().withEncoding(broken), protection, ANSWER))
                .isInstanceOf(OperationOutcome.StoreUnavailable.class);
        assertThat(run(RecordFormat.ofDefaults().withEncoding(new Sealed("a", 1)), protection, ANSWER))
                .isEqualTo(replayed(ANSWER));
        assertThat(runs).hasValue(1);
    }

    @Test
    void options_outOfTheirRange_areRefused() {
        RecordFormat format = RecordFormat.ofDefaults();
        assertThatThrownBy(() -> format.withCompression(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> format.withLongestAnswer(1023)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> format.withEncoding(new Sealed("", 1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> format.withEncoding(new Sealed("Big", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"Big\"");
        assertThatThrownBy(() -> format.withEncoding(new Sealed("deflate", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("deflate");
    }

    /** AES-GCM with the record's id as additional data, as an application would write it. */
    private record Sealed(String name, int secret) implements AnswerEncoding {
        private static final int NONCE = 12;

        @Override
        public byte[] encode(RecordId id, byte[] answer) {
            byte[] nonce = new byte[NONCE];
            new Random().nextBytes(nonce);
            try {
                byte[] sealed = cipher(Cipher.ENCRYPT_MODE, id, nonce).doFinal(answer);
                return ByteBuffer.allocate(NONCE + sealed.length)
                        .put(nonce)
                        .put(sealed)
                        .array();
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public byte[] decode(RecordId id, byte[] stored, int maxBytes) throws IOException {
            try {
                return cipher(Cipher.DECRYPT_MODE, id, Arrays.copyOf(stored, NONCE))
                        .doFinal(stored, NONCE, stored.length - NONCE);
            } catch (GeneralSecurityException e) {
                throw new IOException("The answer was not sealed for this record by this key", e);
            }
        }

        private Cipher cipher(int mode, RecordId id, byte[] nonce) throws GeneralSecurityException {
            byte[] key = new byte[16];
            Arrays.fill(key, (byte) secret);
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, nonce));
            cipher.updateAAD(id.scope().digest());
            cipher.updateAAD(id.key().value().getBytes(StandardCharsets.US_ASCII));
            return cipher;
        }
    }

    /** Named as {@link Sealed} is, so that it is asked for the same answers. */
    private record Broken(Throwable failure) implements AnswerEncoding {
        @Override
        public String name() {
            return "a";
        }

        @Override
        public byte[] encode(RecordId id, byte[] answer) {
            throw thrown();
        }

        @Override
        public byte[] decode(RecordId id, byte[] stored, int maxBytes) {
            throw thrown();
        }

        private RuntimeException thrown() {
            if (failure instanceof Error error) {
                throw error;
            }
            return (RuntimeException) failure;
        }
    }
}
