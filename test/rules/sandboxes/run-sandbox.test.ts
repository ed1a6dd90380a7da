import { describe, expect, it } from "vitest";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { SandboxError } from "../../../src/errors/rollout-errors.ts";
import { epochIn, grantLabels, runLabels } from "../../../src/sandboxes/labels.ts";
import { removeLeftovers } from "../../../src/sandboxes/leftovers.ts";
import { RunSandbox } from "../../../src/sandboxes/run-sandbox.ts";
import { sandboxConformance } from "../../support/environments/sandbox-conformance.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";
import { ProcessSandbox } from "../../support/environments/process-sandbox.ts";

const RUN = { run_id: "0000abcd", created_at: 1_790_000_000_000 };
const sleep = async (): Promise<void> => undefined;

/** The sandboxes of a run as one of its grants has them. */
function under(
  driver: ConstructorParameters<typeof RunSandbox>[0]["driver"],
  epoch: number,
  run = RUN,
  first = async (): Promise<void> => undefined,
): RunSandbox {
  return new RunSandbox({ driver, labels: runLabels(run), labelled: (own) => grantLabels(run, { ticket: 1, epoch }, own), first });
}

sandboxConformance("a run", () => under(new ProcessSandbox(), 1));

describe("sandboxes of a run", () => {
  it("are labelled with their run and grant, whatever labels the environment gives them", async () => {
    const driver = new ScriptedSandbox();
    await under(driver, 7).create({ ...SPEC, labels: ["mine", "edgewise", "edgewise-run-ffffffff", "edgewise-grant-1-99"] });
    expect(driver.created[0]?.spec.labels).toEqual(["edgewise", "edgewise-run-0000abcd", "edgewise-made-1790000000000", "edgewise-grant-1-7", "mine"]);
    expect(epochIn(driver.created[0]?.spec.labels ?? [])).toBe(7);
    expect(epochIn(["edgewise-grant-x", "edgewise-grant-1-"])).toBeNull();
  });

  it("are announced before there is a first one, and none is made where that fails", async () => {
    const driver = new ScriptedSandbox();
    let refused = 1;
    const sandbox = under(driver, 1, RUN, async () => {
      expect(driver.created).toEqual([]);
      if (refused-- > 0) throw new SandboxError("no");
    });
    await expect(sandbox.create(SPEC)).rejects.toThrow("no");
    await Promise.all([sandbox.create(SPEC), sandbox.create(SPEC)]);
    expect([driver.created.length, refused]).toEqual([2, -1]);
  });

  it("are known to every grant of the run, and to no other run", async () => {
    const driver = new ScriptedSandbox({ execute: () => "done" });
    const id = await under(driver, 1).create(SPEC);
    expect((await under(driver, 2).execute(id, "x", { timeoutSeconds: 1 })).stdout).toBe("done");
    const other = under(driver, 1, { ...RUN, run_id: "0000ffff" });
    await expect(other.execute(id, "x", { timeoutSeconds: 1 })).rejects.toThrow(/no sandbox conformance-0 of this run/);
    await expect(other.readFile(id, "/etc/passwd")).rejects.toThrow(SandboxError);
    await other.delete([id]);
    // The same id in another service that shares the account.
    await under(driver, 1, { ...RUN, created_at: 5 }).delete([id]);
    expect(driver.running).toEqual([id]);
    await under(driver, 3).delete([id]);
    expect(driver.running).toEqual([]);
  });
});

describe("sandboxes that killed executors left", () => {
  const made = async () => {
    const driver = new ScriptedSandbox({ failures: { delete: 1 } });
    const ids = await Promise.all([1, 2, 3, 4, 5].map((epoch) => under(driver, epoch).create({ ...SPEC, name: `of-${epoch}` })));
    await under(driver, 1, { ...RUN, run_id: "0000ffff" }).create({ ...SPEC, name: "other" });
    return { driver, ids };
  };

  it("are ended by a later grant, but for those of grants that live or began since, and of other runs", async () => {
    const { driver } = await made();
    expect(await removeLeftovers(driver, runLabels(RUN), { epoch: 4, live: [2] }, { sleep })).toBe(2);
    expect(driver.running.map((id) => id.replace(/-\d+$/, ""))).toEqual(["of-2", "of-4", "of-5", "other"]);
  });

  it("are left to their time limit by a provider that knows no labels", async () => {
    const { driver } = await made();
    expect(await removeLeftovers(Object.assign(Object.create(driver), { list: undefined }), runLabels(RUN), { epoch: 9, live: [] }, { sleep })).toBe(0);
  });
});
