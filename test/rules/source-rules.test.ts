import { describe, expect, it } from "vitest";
import { type ImportOf, MAX_LINES, type SourceFile, violationsOf } from "../../tools/source-rules.ts";

const value = (target: string): ImportOf => ({ target, value: true });
const type = (target: string): ImportOf => ({ target, value: false });
const file = (path: string, imports: readonly ImportOf[] = [], text = "export const x = 1;\n"): SourceFile => ({ path, text, imports });
const reasons = (...files: SourceFile[]): string[] => violationsOf(files).map(({ path, reason }) => `${path}: ${reason}`);

describe("file size", () => {
  it("counts lines, not line ends", () => {
    expect(reasons(file("src/a.ts", [], "x\n".repeat(MAX_LINES)))).toEqual([]);
    expect(reasons(file("src/a.ts", [], "x\n".repeat(MAX_LINES + 1)))).toEqual([expect.stringContaining("401 lines")]);
  });
  it("leaves the generated types alone", () => {
    expect(reasons(file("worker-configuration.d.ts", [], "x\n".repeat(9_000)))).toEqual([]);
  });
});

describe("who may import whom", () => {
  it.each([
    ["src/rubrics/rubric.ts", value("node:fs"), "without Node's modules"],
    ["r2-layout/keys.ts", value("cloudflare:workers"), "know the platform"],
    ["durable-objects/run/machine.ts", value("cloudflare:workers"), "know the platform"],
    ["src/config/run-config.ts", value("durable-objects/run/protocol.ts"), "only types"],
    ["src/metrics/pass-at-k.ts", type("durable-objects/run/control.ts"), "only from protocol.ts"],
    ["src/clients/chat.ts", type("src/cli/main.ts"), "Node only"],
    ["src/parsers/boxed.ts", value("src/executor/lanes.ts"), "does not know the engine"],
    ["src/api/app.ts", value("src/cli/report.ts"), "Node only"],
    ["src/api/app.ts", value("test/support/model-server.ts"), "does not depend on tests"],
  ])("refuses %s -> %o", (path, imported, reason) => {
    expect(reasons(file(path, [imported]))).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    ["src/metrics/summary.ts", type("durable-objects/run/protocol.ts")],
    ["src/cli/main.ts", value("node:fs")],
    ["src/worker.ts", value("cloudflare:workers")],
    ["src/executor/host.ts", type("cloudflare:workers")],
    ["test/workers/run.test.ts", value("cloudflare:workers")],
  ])("allows %s -> %o", (path, imported) => {
    expect(reasons(file(path, [imported]))).toEqual([]);
  });

  it("lets the class of a Durable Object, and no file beside it, know the platform", () => {
    const text = "export class Run extends DurableObject<Env> {}\n";
    expect(reasons(file("durable-objects/run/run.ts", [value("cloudflare:workers")], text))).toEqual([]);
  });

  it("keeps handlers in src/worker.ts", () => {
    const text = "export default { fetch() {} };\n";
    expect(reasons(file("src/worker.ts", [], text))).toEqual([]);
    expect(reasons(file("src/api/app.ts", [], text))).toEqual([expect.stringContaining("default export")]);
  });
});

describe("circles", () => {
  it("names every file of the circle", () => {
    const found = reasons(file("src/a.ts", [value("src/b.ts")]), file("src/b.ts", [value("src/c.ts")]), file("src/c.ts", [value("src/b.ts")]));
    expect(found).toEqual([expect.stringContaining("src/b.ts -> src/c.ts -> src/b.ts")]);
  });
  it("are refused where only types close them", () => {
    const found = reasons(file("src/a.ts", [value("src/b.ts")]), file("src/b.ts", [type("src/a.ts")]));
    expect(found).toEqual([expect.stringContaining("src/a.ts -> src/b.ts -> src/a.ts")]);
  });
  it("are not two ways to one file", () => {
    const files = [file("src/a.ts", [value("src/b.ts"), type("src/c.ts")]), file("src/b.ts", [value("src/c.ts")]), file("src/c.ts")];
    expect(reasons(...files)).toEqual([]);
  });
});
