import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { bootOf } from "../../../src/env.ts";
import { envDigestOf, shortDigest } from "../../../src/config/env-digest.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, everyRollout, metadataOf, namesOf, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, rawRun, run, service, setVars, until } from "../support/service.ts";

const [OLD, NEW] = [envDigestOf("a".repeat(64)), envDigestOf("b".repeat(64))];
const model = new ScriptedModel();
let fleet: Fleet | null = null;

beforeEach(() => {
  setVars({ ...QUICK, CODE_WAIT_MS: "600000" });
  model.options = {};
  model.calls.clear();
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});
afterAll(() => reset());

/** An eval that is interrupted after some rows, all of code `OLD`; nobody is left who has it. */
async function begun(examples: number) {
  model.options = { reply: ({ example }) => (example >= 4 ? new Promise(() => undefined) : null) };
  fleet = new Fleet({ model, envDigest: OLD });
  const config = await createRun({ num_examples: examples, max_concurrent: 4 });
  await until("four rows", async () => (await viewOf(config.run_id)).units.done === 4);
  for (const executor of fleet.executors) executor.kill();
  await fleet.close();
  model.options = {};
  await run(config.run_id).interrupt();
  await until("the dead grants to lapse", async () => {
    await rawRun(config.run_id).poke();
    return (await viewOf(config.run_id)).executors === 0;
  });
  return config;
}
const resume = (runId: string, more: object = {}) => run(runId).resume({ ...NOTHING_NEW, boot: bootOf(service), ...more });

describe("two executors of different code on one run", () => {
  it("make rows of one: the other calls no model, and the run ends code_changed when nobody else comes", async () => {
    const config = await begun(8);
    const calls = model.total;
    setVars({ CODE_WAIT_MS: "3000" });
    fleet = new Fleet({ model, envDigest: NEW });
    expect(await resume(config.run_id)).toMatchObject({ ok: true });
    const waiting = await until("the run to wait", async () => {
      const view = await viewOf(config.run_id);
      return view.waiting_for === undefined ? null : view;
    });
    expect(waiting).toMatchObject({ status: "RUNNING", waiting_for: { env_digest: OLD, found: NEW }, env_digest: OLD });
    const view = await fleet.settled(config.run_id);
    expect(view).toMatchObject({ status: "FAILED", failure: { code: "code_changed" }, units: { done: 4 } });
    expect(model.total).toBe(calls);
    // Resumed where its code is, it is finished with rows of one code.
    await fleet.close();
    fleet = new Fleet({ model, envDigest: OLD });
    expect(await resume(config.run_id, { env_digest: OLD })).toMatchObject({ ok: true, value: { owed_rollouts: 4 } });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED" });
    const rows = await rowsOf(config);
    expect(namesOf(rows)).toEqual(everyRollout(8, 1));
    expect(rows.filter((row) => "env_digest" in row)).toEqual([]);
  });

  it("goes on where one that has its code comes", async () => {
    const config = await begun(6);
    fleet = new Fleet({ model, envDigest: NEW });
    await resume(config.run_id);
    await until("the run to wait", async () => (await viewOf(config.run_id)).waiting_for !== undefined);
    await fleet.close();
    fleet = new Fleet({ model, envDigest: OLD });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED" });
    expect((await viewOf(config.run_id)).waiting_for).toBeUndefined();
  });
});

describe("a resume with other code that is accepted", () => {
  it("marks the rows that it makes, keeps the others to the byte, and counts both in metadata", async () => {
    const config = await begun(7);
    expect(await resume(config.run_id, { env_digest: NEW })).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
    fleet = new Fleet({ model, envDigest: NEW });
    expect(await resume(config.run_id, { env_digest: NEW, accept_code_change: true })).toMatchObject({
      ok: true,
      value: { warnings: [expect.stringContaining(shortDigest(NEW))] },
    });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED", env_digests: { [OLD]: 4, [NEW]: 3 } });
    const rows = await rowsOf(config);
    expect(rows.map((row) => row.env_digest ?? null)).toEqual([null, null, null, null, NEW, NEW, NEW]);
    expect(Object.keys(rows[6] ?? {}).slice(-2)).toEqual(["rollout_index", "env_digest"]);
    expect(await metadataOf(config)).toMatchObject({ edgewise: { env_digest: NEW, env_digests: { [OLD]: 4, [NEW]: 3 } } });
  });
});
