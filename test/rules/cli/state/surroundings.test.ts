import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CliError, reasonOf } from "../../../../src/cli/terminal/cli-error.ts";
import { explain, keyHints } from "../../../../src/cli/service/explain.ts";
import { ServiceClient, ServiceError, ServiceUnreachable } from "../../../../src/cli/connection/http-client.ts";
import { Interrupts } from "../../../../src/cli/terminal/interrupts.ts";
import { collectSecrets } from "../../../../src/cli/service/local-secrets.ts";
import { executorCount } from "../../../../src/cli/service/local-service.ts";
import { nearest } from "../../../../src/config/nearest.ts";
import type { Service } from "../../../../src/cli/service/service.ts";
import { drawCommandSecret, readCommandSecret } from "../../../../src/cli/state/command-secret.ts";
import { prepareStateFolder } from "../../../../src/cli/state/state-folder.ts";
import { newLockRecord } from "../../../../src/cli/state/state-lock.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "edgewise-cli-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const serviceOf = (role: Service["role"]): Service => ({
  role,
  url: "http://127.0.0.1:4711",
  client: new ServiceClient("http://127.0.0.1:4711"),
  stateFolder: role === "remote" ? null : root,
  owner: role === "client" ? { ...newLockRecord("edgewise serve"), pid: 42 } : null,
  orphaned: null,
  clients: () => [],
  close: () => Promise.resolve(),
});

describe("keys for the local service", () => {
  const collect = (env: Record<string, string>, named: readonly string[] = []) => collectSecrets({ env, cwd: root, home: root, named });

  it("come from the environment by their looks or by name, and nothing else comes with them", () => {
    expect(collect({ OPENAI_API_KEY: "a", HF_TOKEN: "b", HOME: "/x", PATH: "/bin", lower_key: "c", EMPTY_KEY: "", EDGEWISE_TOKEN: "t", PLAIN: "p" })).toEqual({
      OPENAI_API_KEY: "a",
      HF_TOKEN: "b",
    });
    expect(collect({ PLAIN: "p" }, ["PLAIN"])).toEqual({ PLAIN: "p" });
  });

  it("come from .dev.vars too, where the environment has none", () => {
    writeFileSync(join(root, ".dev.vars"), `# keys\nMODEL_KEY="from file"\nexport OTHER=two\nOPENAI_API_KEY=file\n`);
    expect(collect({ OPENAI_API_KEY: "process" })).toEqual({ MODEL_KEY: "from file", OTHER: "two", OPENAI_API_KEY: "process" });
  });

  it("fall back to the configuration of the prime client for its own key and team", () => {
    mkdirSync(join(root, ".prime"));
    writeFileSync(join(root, ".prime", "config.json"), JSON.stringify({ api_key: "pk", team_id: "team", other: 1 }));
    expect(collect({})).toEqual({ PRIME_API_KEY: "pk", PRIME_TEAM_ID: "team" });
    expect(collect({ PRIME_API_KEY: "mine" })).toEqual({ PRIME_API_KEY: "mine", PRIME_TEAM_ID: "team" });
    writeFileSync(join(root, ".prime", "config.json"), "{broken");
    expect(collect({})).toEqual({});
  });

  it("stay small: a value that is no key is left out, the named one never for the sake of others", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`A${i}_KEY`, "x".repeat(4000)]));
    const secrets = collect({ ...many, Z_KEY: "z", HUGE_KEY: "x".repeat(9000) }, ["Z_KEY"]);
    expect(secrets.Z_KEY).toBe("z");
    expect(secrets.HUGE_KEY).toBeUndefined();
    expect(JSON.stringify(secrets).length).toBeLessThan(140_000);
  });
});

describe("what is said about a missing key", () => {
  it("names other keys that are set and how to use one, never a value", () => {
    const hints = keyHints({
      message: "PRIME_API_KEY is not set",
      service: serviceOf("owner"),
      given: {},
      env: { OPENAI_API_KEY: "sk-secret", ZETA_API_KEY: "z", PATH: "x" },
    }).join("\n");
    expect(hints).toContain("OPENAI_API_KEY is set: add --provider openai -m");
    expect(hints).toContain("ZETA_API_KEY is set: add -b <URL of its endpoint> -k ZETA_API_KEY -m");
    expect(hints).not.toContain("sk-secret");
    expect(keyHints({ message: "PRIME_API_KEY is not set", service: serviceOf("owner"), given: {}, env: {} })).toEqual([
      expect.stringContaining("add --provider embedded"),
    ]);
    expect(keyHints({ message: "the environment needs a key that is not set: SERPER_API_KEY", service: serviceOf("owner"), given: {}, env: {} })).toEqual([]);
    expect(keyHints({ message: "PRIME_API_KEY is not set", service: serviceOf("remote"), given: {}, env: { ZETA_API_KEY: "z" } })).toEqual([]);
  });

  it("says that the address alone chooses no key", () => {
    const hint = (api_base_url: string, more = {}): string =>
      keyHints({ message: "PRIME_API_KEY is not set", service: serviceOf("owner"), given: { api_base_url, ...more }, env: {} }).join("\n");
    expect(hint("https://api.openai.com/v1")).toContain("add -k OPENAI_API_KEY");
    expect(hint("https://models.example.com/v1")).toContain("add -k NAME");
    expect(hint("https://api.pinference.ai/api/v1")).not.toContain("add -k");
    expect(hint("https://api.openai.com/v1", { api_key_var: "PRIME_API_KEY" })).not.toContain("add -k");
  });

  it("says when another terminal's service lacks a key that this one has", () => {
    const [hint] = keyHints({ message: "MY_KEY is not set", service: serviceOf("client"), given: { api_key_var: "MY_KEY" }, env: { MY_KEY: "x" } });
    expect(hint).toContain("process 42, edgewise serve");
  });
});

describe("what is said about a service", () => {
  const context = (role: Service["role"]) => ({
    service: serviceOf(role),
    env: {},
    wish: { envId: "gsm8", given: {}, environments: ["gsm8k", "reverse-text"] },
  });
  const explained = (error: unknown, role: Service["role"] = "owner"): { readonly text: string; readonly exitCode: number } => {
    const answer = explain(error, context(role));
    if (!(answer instanceof CliError)) throw new Error("not explained");
    return { text: [answer.message, ...answer.hints].join("\n"), exitCode: answer.exitCode };
  };

  it("names the address that was tried, and where it came from", () => {
    const refused = new ServiceUnreachable("http://127.0.0.1:4711/api/v1/x", Object.assign(new Error("x"), { code: "ECONNREFUSED" }));
    expect(explained(refused, "remote").text).toMatch(/http:\/\/127\.0\.0\.1:4711 \(EDGEWISE_URL\) cannot be reached: .*connection refused/);
    expect(explained(refused, "owner").text).toContain("service.log");
  });

  it("says where the cause of an unexpected error stands", () => {
    const internal = new ServiceError(500, "internal", "Internal error; the service's log has the cause.", null);
    expect(explained(internal, "owner").text).toMatch(
      /the local service (met an unexpected error\nDetails are in .*service\.log|failed, and its disk is full)/,
    );
    expect(explained(internal, "remote").text).toMatch(/^http:\/\/.*: Internal error/);
  });

  it("says what to do about a refusal", () => {
    expect(explained(new ServiceError(401, "unauthorized", "No token.", null), "remote").text).toContain("EDGEWISE_TOKEN");
    const unknown = explained(new ServiceError(404, "environment_not_found", "There is no environment gsm8.", null));
    expect(unknown).toMatchObject({ exitCode: 2, text: expect.stringContaining("Did you mean gsm8k?\nAvailable: gsm8k, reverse-text.") });
    expect(explained(new ServiceError(409, "resume_mismatch", "Another evaluation: model: …", "Use the same."))).toEqual({
      exitCode: 1,
      text: "Another evaluation: model: …\nUse the same.",
    });
  });
});

describe("the state folder", () => {
  it("is refused with its path and the reason when it cannot be written", () => {
    writeFileSync(join(root, "file"), "");
    expect(() => prepareStateFolder(join(root, "file", ".edgewise"))).toThrow(
      /cannot write to the state folder .*file\/\.edgewise: a part of the path is not a folder/,
    );
  });

  it("is closed to everybody else, also one that was open, and so is the secret of each boot in it", () => {
    const folder = join(root, ".edgewise");
    mkdirSync(folder, { mode: 0o755 });
    chmodSync(folder, 0o755);
    prepareStateFolder(folder);
    const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    expect(modeOf(folder)).toBe("700");
    const first = drawCommandSecret(folder, "boot-1");
    const second = drawCommandSecret(folder, "boot-2");
    expect(modeOf(join(folder, "secret"))).toBe("600");
    expect(second).not.toBe(first);
    expect(second.length).toBeGreaterThan(40);
    expect(readCommandSecret(folder, "boot-2")).toBe(second);
    expect(readCommandSecret(folder, "boot-1")).toBeNull();
  });
});

describe("EDGEWISE_EXECUTORS", () => {
  it("is a number from 1 to 8", () => {
    expect(executorCount({})).toBe(1);
    expect(executorCount({ EDGEWISE_EXECUTORS: "8" })).toBe(8);
    for (const text of ["0", "9", "x", "1.5"]) expect(() => executorCount({ EDGEWISE_EXECUTORS: text })).toThrow(/from 1 to 8/);
  });
});

describe("the nearest word", () => {
  it("is the one that was most likely meant, or none", () => {
    const words = ["gsm8k", "reverse-text", "math-python"];
    expect(nearest("gsm8", words)).toBe("gsm8k");
    expect(nearest("Reverse_Text", words)).toBe("reverse-text");
    expect(nearest("revrse-txt", words)).toBe("reverse-text");
    expect(nearest("math", words)).toBe("math-python");
    expect(nearest("wordle", words)).toBeNull();
  });
});

describe("an interruption", () => {
  it("ends a wait at once and leaves the handlers of others alone", async () => {
    const before = process.listenerCount("SIGINT");
    const interrupts = new Interrupts();
    const waiting = interrupts.during(new Promise(() => undefined));
    process.emit("SIGINT");
    await expect(waiting).rejects.toMatchObject({ name: "Interrupted" });
    await expect(interrupts.during(Promise.resolve(1))).rejects.toMatchObject({ name: "Interrupted" });
    interrupts.dispose();
    expect(process.listenerCount("SIGINT")).toBe(before);
  });
});

describe("reasons", () => {
  it("are words, not codes, also deep inside", () => {
    expect(reasonOf(Object.assign(new Error("x"), { code: "ENOSPC" }))).toBe("no space left on the device");
    expect(reasonOf(new TypeError("fetch failed", { cause: new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })]) }))).toBe(
      "connection refused",
    );
    expect(reasonOf(new Error("plain"))).toBe("plain");
  });
});
