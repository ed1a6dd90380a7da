import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { tellAlerts } from "../../../durable-objects/alert-book/tell-alerts.ts";
import { alertBookStub } from "../../../durable-objects/stubs.ts";
import type { Occurrence } from "../../../src/alerts/occurrence.ts";
import type { Env } from "../../../src/env.ts";

const service = env as unknown as Env;

const ended = (changes: Partial<Occurrence> = {}): Occurrence => ({
  id: "run/0000abcd/1/completed",
  type: "run.completed",
  at: 1_700_000_000_000,
  names: ["nightly", "gsm8k"],
  subject: { run_id: "0000abcd" },
  text: "The run 0000abcd is COMPLETED.",
  data: { avg_reward: 0.5 },
  ...changes,
});

describe("what happens in a team", () => {
  it("is taken where nobody asked for it, and by a deployment that has no alerts", async () => {
    expect(await alertBookStub(service, "nobody")?.take({ team: "nobody", occurrences: [ended()] })).toEqual({ ok: true, value: { asked: false } });
    const { ALERT_BOOK: _, ...before } = service;
    await expect(tellAlerts(before as Env, "nobody", [ended()])).resolves.toBeUndefined();
  });

  it("is refused whole where one of it says too much, or is about nothing", async () => {
    await expect(tellAlerts(service, "nobody", [ended(), ended({ subject: {} })])).rejects.toThrow("subject: must name a run, a schedule or a monitor");
    await expect(tellAlerts(service, "nobody", [ended({ data: { much: "x".repeat(20_000) } })])).rejects.toThrow("at most 16384 characters as JSON");
  });
});
