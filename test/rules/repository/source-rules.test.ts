import { describe, expect, it } from "vitest";
import { type ImportOf, MAX_LINES, type SourceFile, violationsOf } from "../../../tools/source-rules.ts";

const value = (target: string): ImportOf => ({ target, value: true });
const type = (target: string): ImportOf => ({ target, value: false });
const file = (path: string, imports: readonly ImportOf[] = [], text = "export const x = 1;\n"): SourceFile => ({ path, text, imports });
const reasons = (...files: SourceFile[]): string[] => violationsOf(files).map(({ path, reason }) => `${path}: ${reason}`);

describe("file size", () => {
  it("counts lines, not line ends", () => {
    expect(reasons(file("tools/a.ts", [], "x\n".repeat(MAX_LINES)))).toEqual([]);
    expect(reasons(file("tools/a.ts", [], "x\n".repeat(MAX_LINES + 1)))).toEqual([expect.stringContaining("401 lines")]);
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
    ["src/clients/chat.ts", type("src/cli/main.ts"), "Node only"],
    ["src/api/app.ts", value("src/cli/report.ts"), "Node only"],
    ["src/api/app.ts", value("test/support/model-server/model-server.ts"), "does not depend on tests"],
  ])("refuses %s -> %o", (path, imported, reason) => {
    expect(reasons(file(path, [imported]))).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
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

describe("floors", () => {
  it.each([
    ["src/parsers/boxed.ts", value("src/environments/kinds/tool.ts"), "src/environments/ is above src/parsers/"],
    ["src/metrics/pass-at-k.ts", type("durable-objects/run/protocol.ts"), "durable-objects/ is above src/metrics/"],
    ["durable-objects/run/run.ts", type("src/executor/ports.ts"), "src/executor/ is above durable-objects/"],
    ["src/api/app.ts", value("src/executor/executor.ts"), "src/executor/ is beside src/api/"],
    ["src/environments/definition/load.ts", value("src/index.ts"), "src/index.ts is above src/environments/"],
    ["src/cli/service/service.ts", type("src/cli/eval-run/eval-run.ts"), "src/cli/eval-run/ is above src/cli/service/"],
  ])("are not climbed: %s -> %o", (path, imported, reason) => {
    expect(reasons(file(path, [imported]))).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    ["src/parsers/boxed.ts", value("src/rollouts/messages.ts")],
    ["src/environments/bundled/gsm8k/gsm8k.ts", value("src/environments/kinds/tool.ts")],
    ["src/environments/bundled/gsm8k/gsm8k.test.ts", value("src/testing/index.ts")],
    ["durable-objects/run/run.ts", value("durable-objects/stubs.ts")],
    ["src/cli/eval-run/eval-run.ts", value("src/api/environment-ids.ts")],
    ["test/rules/app.test.ts", value("src/api/app.ts")],
  ])("are gone down, or stayed on: %s -> %o", (path, imported) => {
    expect(reasons(file(path, [imported]))).toEqual([]);
  });

  it("have a place for every file that is shipped", () => {
    expect(reasons(file("src/helpers/text.ts"))).toEqual([expect.stringContaining("in no room")]);
    expect(reasons(file("src/cli/text.ts"))).toEqual([expect.stringContaining("in no room")]);
  });
});

describe("circles", () => {
  it("names every file of the circle", () => {
    const found = reasons(file("tools/a.ts", [value("tools/b.ts")]), file("tools/b.ts", [value("tools/c.ts")]), file("tools/c.ts", [value("tools/b.ts")]));
    expect(found).toEqual([expect.stringContaining("tools/b.ts -> tools/c.ts -> tools/b.ts")]);
  });
  it("are refused where only types close them", () => {
    const found = reasons(file("tools/a.ts", [value("tools/b.ts")]), file("tools/b.ts", [type("tools/a.ts")]));
    expect(found).toEqual([expect.stringContaining("tools/a.ts -> tools/b.ts -> tools/a.ts")]);
  });
  it("are not two ways to one file", () => {
    const files = [file("tools/a.ts", [value("tools/b.ts"), type("tools/c.ts")]), file("tools/b.ts", [value("tools/c.ts")]), file("tools/c.ts")];
    expect(reasons(...files)).toEqual([]);
  });
});
