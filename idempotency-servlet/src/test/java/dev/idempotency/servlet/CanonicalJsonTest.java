package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CanonicalJsonTest {
    private static final int MEGABYTE = 1024 * 1024;

    private final CanonicalJson json = new CanonicalJson(100, MEGABYTE);

    private String digest(String document) throws IOException {
        return digest(document.getBytes(StandardCharsets.UTF_8));
    }

    private String digest(byte[] document) throws IOException {
        return new String(json.digest(new ByteArrayInputStream(document)), StandardCharsets.ISO_8859_1);
    }

    private void assertEqual(String... documents) throws IOException {
        String first = digest(documents[0]);
        for (String document : documents) {
            assertThat(digest(document)).as(document).isEqualTo(first);
        }
    }

    private void assertAllDifferent(String... documents) throws IOException {
        Set<String> digests = new HashSet<>();
        for (String document : documents) {
            assertThat(digests.add(digest(document))).as(document).isTrue();
        }
    }

    private RefusedBodyException refused(byte[] document) {
        return catchThrowableOfType(RefusedBodyException.class, () -> json.digest(new ByteArrayInputStream(document)));
    }

    @Test
    void digest_writtenOtherwise_isTheSame() throws IOException {
        assertEqual(
                "{\"amount\":1,\"to\":{\"a\":[1,2],\"b\":null}}",
                " {\r\n\t\"to\" : { \"b\" : null, \"a\" : [ 1 , 2 ] } , \"amount\" : 1 } ",
                "{\"\\u0061mount\":1,\"to\":{\"a\":[1,2],\"b\":null}}");
        assertEqual("\"/\u00fc\uD83D\uDE80\"", "\"\\/\\u00fc\\ud83d\\ude80\"");
        assertEqual("", "  \n");
    }

    @Test
    void digest_saysSomethingElse_isAnother() throws IOException {
        assertAllDifferent(
                "",
                "null",
                "true",
                "false",
                "0",
                "\"\"",
                "\"0\"",
                "\"0e0\"",
                "\"true\"",
                "\"null\"",
                "[]",
                "{}",
                "[[]]",
                "[{}]",
                "[null]",
                "[1,2]",
                "[2,1]",
                "[12]",
                "[[1],2]",
                "[[1,2]]",
                "[\"1\",2]",
                "{\"a\":1}",
                "{\"a\":\"1\"}",
                "{\"a\":null}",
                "{\"A\":1}",
                "{\"a\":1,\"b\":2}",
                "{\"a\":2,\"b\":1}",
                "{\"ab\":1}",
                "{\"a\":{\"b\":1}}",
                "[\"a\",1]",
                "\"" + "x".repeat(40) + "\"",
                "\"" + "x".repeat(41) + "\"");
    }

    @Test
    void digest_halfOfASurrogatePair_isNoQuestionMark() throws IOException {
        assertAllDifferent("\"?\"", "\"\\ud83d\"", "\"\\ude80\"", "\"\\ufffd\"");
        assertAllDifferent("{\"?\":1}", "{\"\\ud83d\":1}", "{\"\\ude80\":1}");
    }

    @Test
    void digest_numbersOfOneValue_areOne() throws IOException {
        assertEqual("1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "1.000", "0.0001e4", "1e000", "1e-0");
        assertEqual("0", "-0", "0.0", "0e999999999", "-0.000e-7");
        assertEqual("1200", "1.2e3", "12E2", "1200.00");
        assertEqual("-0.05", "-5e-2", "-0.050");
        assertEqual("1e1000000000000000000000000", "10e999999999999999999999999");
    }

    @Test
    void digest_numbersOfOtherValues_areOthers() throws IOException {
        assertAllDifferent(
                "1",
                "-1",
                "10",
                "0.1",
                "0.10000000000000001",
                "0.1000000000000000055511151231257827",
                "9007199254740992",
                "9007199254740993",
                "1e400",
                "1e401",
                "-1e400",
                "1e999999999",
                "1e-999999999",
                "1e999999998",
                "1e2147483648",
                "1e-2147483648",
                "1e9223372036854775808",
                "1e18446744073709551617");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "{\"a\":1",
                "[1,]",
                "{\"a\":1,}",
                "{a:1}",
                "{'a':1}",
                "[NaN]",
                "[Infinity]",
                "[-]",
                "[01]",
                "[1.]",
                "[.5]",
                "[+1]",
                "[1e]",
                "[0x10]",
                "// comment\n1",
                "1 2",
                "{} {}",
                "{}x",
                "]",
                "tru",
                "\"a\tb\"",
                "\"\\x\"",
                "\"\\ud8\"",
                "secret",
                "\uFEFF{}"
            })
    void digest_noJson_isRefusedWithoutShowingIt(String document) {
        RefusedBodyException failure = refused(document.getBytes(StandardCharsets.UTF_8));

        assertThat(failure.code()).isEqualTo(ProblemCode.MALFORMED_BODY);
        assertThat(failure.getMessage()).doesNotContain("secret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":1,\"a\":1}",
                "{\"a\":1,\"b\":2,\"a\":3}",
                "{\"a\":1,\"\\u0061\":2}",
                "[{\"b\":{\"a\":[],\"a\":{}}}]"
            })
    void digest_memberTwice_isRefused(String document) {
        assertThat(refused(document.getBytes(StandardCharsets.UTF_8)))
                .hasMessageContaining("twice")
                .returns(ProblemCode.MALFORMED_BODY, RefusedBodyException::code);
    }

    @Test
    void digest_notUtf8_isRefused() {
        List<byte[]> documents = List.of(
                new byte[] {'"', (byte) 0xff, '"'},
                new byte[] {'"', (byte) 0xc0, (byte) 0xaf, '"'},
                new byte[] {'"', (byte) 0xed, (byte) 0xa0, (byte) 0xbd, '"'},
                "{\"a\":1}".getBytes(StandardCharsets.UTF_16),
                new byte[] {'"', (byte) 0xc3});
        for (byte[] document : documents) {
            assertThat(refused(document).code()).isEqualTo(ProblemCode.MALFORMED_BODY);
        }
    }

    @Test
    void digest_nestedToTheBound_isReadAndDeeperIsRefused() throws IOException {
        assertThat(digest("[".repeat(100) + "]".repeat(100))).isNotEmpty();
        assertThat(digest("{\"a\":".repeat(100) + "1" + "}".repeat(100))).isNotEmpty();

        for (String deeper : List.of("[".repeat(101) + "]".repeat(101), "{\"a\":".repeat(101), "[".repeat(MEGABYTE))) {
            assertThat(refused(deeper.getBytes(StandardCharsets.UTF_8)))
                    .hasMessageContaining("100 levels")
                    .returns(ProblemCode.MALFORMED_BODY, RefusedBodyException::code);
        }
    }

    @Test
    void digest_bytesBeyondTheBound_areRefusedHoweverTheyCome() throws IOException {
        String full = "\"" + "x".repeat(MEGABYTE - 2) + "\"";
        assertThat(digest(full)).isNotEmpty();

        assertThat(refused((full + " ").getBytes(StandardCharsets.UTF_8)).code())
                .isEqualTo(ProblemCode.BODY_TOO_LARGE);
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return ' ';
            }

            @Override
            public int read(byte[] buffer, int offset, int length) {
                Arrays.fill(buffer, offset, offset + length, (byte) ' ');
                return length;
            }
        };
        assertThat(catchThrowableOfType(RefusedBodyException.class, () -> json.digest(endless))
                        .code())
                .isEqualTo(ProblemCode.BODY_TOO_LARGE);
    }

    @Test
    void digest_longNumber_isReadToTheBoundAndNoFurther() throws IOException {
        assertThat(digest("9".repeat(CanonicalJson.MAX_NUMBER_LENGTH))).isNotEmpty();
        for (String number : List.of("9".repeat(1_001), "1." + "9".repeat(1_001), "1e" + "9".repeat(1_001))) {
            assertThat(refused(number.getBytes(StandardCharsets.UTF_8)).code()).isEqualTo(ProblemCode.MALFORMED_BODY);
        }
    }

    /** A number that is computed would take minutes and gigabytes here, once for each of eighty thousand. */
    @Test
    @Timeout(60)
    void digest_shortNumbersOfGreatValue_costWhatTheirBytesCost() throws IOException {
        StringBuilder document = new StringBuilder("[1e999999999");
        while (document.length() < MEGABYTE - 30) {
            document.append(",1e999999999,1e-999999999");
        }
        assertThat(digest(document.append(']').toString())).isNotEmpty();
    }

    @Test
    void digest_namesOfOneHashCode_areHandledInOrder() throws IOException {
        StringBuilder document = new StringBuilder("{\"x\":0");
        IntStream.range(0, 1 << 14).forEach(i -> {
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < 14; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            document.append(",\"").append(name).append("\":0");
        });
        assertTimeout(
                Duration.ofSeconds(60),
                () -> assertThat(digest(document.append('}').toString())).isNotEmpty());
    }

    @Test
    void digest_bodyThatCannotBeRead_isNoRefusal() {
        InputStream broken = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("disk");
            }

            @Override
            public int read(byte[] buffer, int offset, int length) throws IOException {
                throw new IOException("disk");
            }
        };
        assertThat(catchThrowableOfType(IOException.class, () -> json.digest(broken)))
                .hasMessage("disk");
    }

    @Test
    void canonicalJson_boundOutOfRange_isRefused() {
        for (int depth : new int[] {0, -1, 501}) {
            assertThatIllegalArgumentException().isThrownBy(() -> FingerprintFunction.canonicalJson(depth, 1));
        }
        for (int bytes : new int[] {0, -1, Integer.MAX_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> FingerprintFunction.canonicalJson(1, bytes));
        }
    }

    @Test
    void refusedBody_otherCode_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RefusedBodyException(ProblemCode.KEY_REUSED, "no", null));
    }
}
