import { describe, expect, it, vi } from "vitest";
import { lookUpSecret, resolveKey } from "../../../src/config/endpoints/secrets.ts";
import { mask, masked, maskJson } from "../../../src/errors/masking.ts";
import { loggerOf, setupLogging } from "../../../src/logging/logger.ts";
import { renderError } from "../../../src/api/errors.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { failureOfRollout } from "../../../src/rollouts/failure.ts";

const read = (value: string): string => {
  expect(lookUpSecret({ A_KEY: value } as object, "A_KEY")).toBe(value);
  return value;
};

describe("a key that this process has read", () => {
  it("is in no text that is masked: as it is, in a URL, in JSON, in Base64", () => {
    const key = read('sk/masked+"1234567890');
    const looks = [key, encodeURIComponent(key), JSON.stringify(key), btoa(key), btoa(`${key}:rest`).replaceAll("+", "-").replaceAll("/", "_")];
    for (const look of looks) {
      expect(mask(`before ${look} after`)).toMatch(/^before "?\[secret\]/);
      expect(mask(look)).not.toContain(look.slice(0, 12));
    }
    expect(mask("sk/masked alone")).toBe("sk/masked alone");
  });

  it("leaves a JSON text one, whatever it looks like", () => {
    const number = read("1234567812345678");
    const quotes = read('abcdef12","ghijkl');
    const text = `{"n":${number},"s":"a ${number} b","t":["abcdef12","ghijkl",${JSON.stringify(quotes)}],"${number}":1.0,"u":"\\u2028 ${number}"}`;
    expect(maskJson(text)).toBe(`{"n":${number},"s":"a [secret] b","t":["abcdef12","ghijkl","[secret]"],"[secret]":1.0,"u":"\\u2028 [secret]"}`);
    expect(maskJson('{"nothing":"of it"}')).toBe('{"nothing":"of it"}');
  });

  it("is masked in names and values of whatever depth, and what is no text stays the same", () => {
    const key = read("deep-key-0123456789");
    const bytes = new Uint8Array([1]);
    expect(masked({ [key]: [{ said: `it is ${key}` }, 1, null, undefined, bytes] })).toEqual({
      "[secret]": [{ said: "it is [secret]" }, 1, null, undefined, bytes],
    });
  });

  it("is masked before a text is cut, so that no half of it stays", () => {
    const key = read("cut-key-0123456789abcdef");
    const { message, chain } = failureOfRollout(new Error(`${"x".repeat(990)}${key}`));
    expect(message).not.toContain("cut-key-");
    expect(JSON.stringify(chain)).not.toContain("cut-key-");
  });

  it("does not reach the log, an error answer, or the log line of an unexpected one", () => {
    const key = read("log-key-0123456789");
    const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
    setupLogging({ level: "error" });
    loggerOf("here").error(`it was ${key}`, { said: key });
    expect(renderError(new EdgewiseError("invalid_request", `no ${key}`, { hint: key })).body).toEqual({
      code: "invalid_request",
      detail: "no [secret]",
      hint: "[secret]",
    });
    renderError(new Error(key));
    expect(written).toHaveBeenCalledTimes(2);
    expect(JSON.stringify(written.mock.calls)).not.toContain(key);
    written.mockRestore();
    setupLogging();
  });

  it.each(["EMPTY", "short12", "anything", "not-needed", "lm-studio", "no-key-required"])("stays in texts where it is a word like any other: %s", (word) => {
    read(word);
    expect(mask(`say ${word} now`)).toBe(`say ${word} now`);
  });
});

describe("a provider's address that begins with http://", () => {
  it.each(["http://api.openai.com/v1", "HTTP://API.OPENAI.COM/v1", "http://api.openai.com.:443/v1", "http://api.anthropic.com"])("gets no key: %s", (url) => {
    const answer = resolveKey({ OPENAI_API_KEY: "sk-0123456789" } as object, "OPENAI_API_KEY", url);
    expect(answer).toMatchObject({ ok: false, error: { code: "invalid_request", hint: expect.stringContaining("https://") as string } });
    expect(JSON.stringify(answer)).not.toContain("0123456789");
  });

  it("is none of these", () => {
    for (const url of ["http://localhost:8000/v1", "http://api.openai.com.example.org/v1", "https://api.openai.com/v1"])
      expect(resolveKey({ A_KEY: "sk-0123456789" } as object, "A_KEY", url)).toMatchObject({ ok: true });
  });
});
