package dev.idempotency.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyHeaderTest {
    @Test
    void parse_noLine_isMissing() {
        assertThat(KeyHeader.parse(List.of(), KeySyntax.LENIENT)).isEqualTo(new KeyHeader.Parsed.Missing());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "abc|abc",
                "\"abc\"|abc",
                "' \t\"abc\"\t '|abc",
                "\"a\\\"b\\\\c\"|'a\"b\\c'",
                "\"a,b;c\"|'a,b;c'",
                "\"abc\";x=1;y=\"q;\\\"\";*z;t=?1;b=:aGk=:|abc",
                "\"abc\"; x|abc",
                "\" abc \"|' abc '",
                "a b|'a b'"
            })
    void parse_lenient_isThisKey(String line, String key) {
        assertThat(parse(line, KeySyntax.LENIENT)).isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "\"",
                "\"\"",
                "\" \"",
                "\"abc",
                "\"abc\"x",
                "\"abc\" \"d\"",
                "\"abc\",\"d\"",
                "\"a\\n\"",
                "\"a\\",
                "\"abc\";",
                "\"abc\";A",
                "\"abc\";a=",
                "\"abc\";a=\"b",
                "abc,d",
                "abc;d",
                "a\"b",
                "\"a\u00e9\"",
                "a\u00e9",
                "\"a\tb\"",
                "a\tb",
                "\"a\u007f\"",
                "\"a\u0000\""
            })
    void parse_noKey_isInvalidInBothSyntaxes(String line) {
        assertThat(KeyHeader.parse(List.of(line), KeySyntax.LENIENT)).isInstanceOf(KeyHeader.Parsed.Invalid.class);
        assertThat(KeyHeader.parse(List.of(line), KeySyntax.STRICT)).isInstanceOf(KeyHeader.Parsed.Invalid.class);
    }

    @Test
    void parse_twoLines_isInvalidEvenIfEqual() {
        assertThat(KeyHeader.parse(List.of("\"a\"", "\"a\""), KeySyntax.LENIENT))
                .isEqualTo(new KeyHeader.Parsed.Invalid("the header must be sent once, but came 2 times"));
    }

    @Test
    void parse_length_isLimitedTo255AfterDecoding() {
        String longest = "k".repeat(255);
        assertThat(parse("\"" + longest + "\"", KeySyntax.STRICT)).isEqualTo(longest);
        assertThat(parse("\"" + "\\\"".repeat(255) + "\"", KeySyntax.STRICT)).isEqualTo("\"".repeat(255));
        assertThat(KeyHeader.parse(List.of("\"" + longest + "k\""), KeySyntax.STRICT))
                .isInstanceOf(KeyHeader.Parsed.Invalid.class);
    }

    @Test
    void parse_strict_refusesTheBareForm() {
        assertThat(parse("\"abc\"", KeySyntax.STRICT)).isEqualTo("abc");
        assertThat(KeyHeader.parse(List.of("abc"), KeySyntax.STRICT)).isInstanceOf(KeyHeader.Parsed.Invalid.class);
    }

    @Test
    void parse_invalid_neverRepeatsTheValue() {
        KeyHeader.Parsed parsed = KeyHeader.parse(List.of("\"secret\u00e9"), KeySyntax.LENIENT);
        assertThat(((KeyHeader.Parsed.Invalid) parsed).reason()).doesNotContain("secret");
    }

    private static String parse(String line, KeySyntax syntax) {
        return ((KeyHeader.Parsed.Present) KeyHeader.parse(List.of(line), syntax))
                .key()
                .value();
    }
}
