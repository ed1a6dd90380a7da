import { describe, expect, it } from "vitest";
import { DEFAULT_KEY_VARS, type KeyPlaces, keyPlaceProblem, keyVarProblem } from "../../../src/config/endpoints/key-vars.ts";

const allowed = (name: string, keyVars = DEFAULT_KEY_VARS): boolean => keyVarProblem(keyVars, name) === null;

describe("a variable that requests may name", () => {
  it.each(["OPENAI_API_KEY", "A_API_KEY"])("is by default %s", (name) => expect(allowed(name)).toBe(true));
  it.each(["HF_TOKEN", "MY_KEY", "SIGNING_KEY", "API_KEYS", "KEY", "PATH", "OPENAI_API_KEY_2", "XKEY"])("is by default not %s", (name) =>
    expect(allowed(name)).toBe(false),
  );

  it("is what KEY_VARS says, and the refusal says what that is", () => {
    expect(allowed("HF_TOKEN", "HF_*, OPENAI_API_KEY")).toBe(true);
    expect(allowed("MY_API_KEY", "HF_*, OPENAI_API_KEY")).toBe(false);
    expect(allowed("AXKEY", "A.KEY")).toBe(false);
    expect(keyVarProblem("A_KEY,B_*", "C_KEY")).toContain("A_KEY,B_*");
  });
});

describe("the place a key may go to", () => {
  const deployed: KeyPlaces = { keyVars: DEFAULT_KEY_VARS, baseUrl: "https://gateway.example/v1", keyVar: "GATE_KEY", local: false };
  const fine = (name: string, url: string, places: Partial<KeyPlaces> = {}): boolean => keyPlaceProblem({ ...deployed, ...places }, name, url) === null;

  it("is a known provider's own host for that provider's key", () => {
    expect(fine("OPENAI_API_KEY", "https://api.openai.com/v1")).toBe(true);
    expect(fine("OPENAI_API_KEY", "https://api.openai.com.evil.example/v1")).toBe(false);
    expect(fine("PRIME_API_KEY", "https://evil.example/v1")).toBe(false);
    expect(keyPlaceProblem(deployed, "PRIME_API_KEY", "https://evil.example/v1")).toMatch(/PRIME_API_KEY .*pinference.*evil\.example/);
  });

  it("is the service's own endpoint for the key of that", () => {
    expect(fine("GATE_KEY", "https://gateway.example/v2")).toBe(true);
    expect(fine("GATE_KEY", "https://evil.example/v1")).toBe(false);
    expect(fine("OPENAI_API_KEY", "https://gateway.example/v1", { keyVar: "OPENAI_API_KEY" })).toBe(true);
    expect(fine("OPENAI_API_KEY", "https://api.openai.com/v1", { keyVar: "OPENAI_API_KEY" })).toBe(true);
  });

  it("is, for a key that nobody claims, a provider's host, the service's own, or one that KEY_VARS binds it to", () => {
    expect(fine("MY_API_KEY", "https://models.example/v1")).toBe(false);
    expect(keyPlaceProblem(deployed, "MY_API_KEY", "https://models.example/v1")).toMatch(/no host.*MY_API_KEY@models\.example/);
    expect(fine("MY_API_KEY", "https://models.example/v1", { keyVars: "*_API_KEY,MY_API_KEY@models.example" })).toBe(true);
    expect(fine("MY_API_KEY", "https://api.openai.com/v1")).toBe(true);
    expect(fine("MY_API_KEY", "https://gateway.example/v1")).toBe(true);
    // A deployed service's own network is no provider, whatever a provider of a person's own machine is called.
    expect(fine("MY_API_KEY", "https://localhost/v1")).toBe(false);
  });

  it("is a host that KEY_VARS binds it to, and no other when nothing else names it", () => {
    const keyVars = "OPENAI_API_KEY@proxy.example,MY_KEY@*.example,*_API_KEY";
    expect(fine("OPENAI_API_KEY", "https://proxy.example/v1", { keyVars })).toBe(true);
    expect(fine("OPENAI_API_KEY", "https://other.example/v1", { keyVars })).toBe(false);
    expect(fine("MY_KEY", "https://a.example/v1", { keyVars })).toBe(true);
    expect(fine("MY_KEY", "https://a.test/v1", { keyVars })).toBe(false);
  });

  it("is the user's own network where the service is local, and no place at all where nothing is sent", () => {
    expect(fine("PRIME_API_KEY", "http://127.0.0.1:8000/v1", { local: true })).toBe(true);
    expect(fine("PRIME_API_KEY", "http://127.0.0.1:8000/v1")).toBe(false);
    expect(fine("PRIME_API_KEY", "https://evil.example/v1", { local: true })).toBe(false);
    expect(fine("PRIME_API_KEY", "embedded")).toBe(true);
  });
});
