import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { askedWait, statusProblem } from "../../../src/alerts/answer.ts";
import { hiddenIn } from "../../../src/alerts/alert-secret.ts";
import { bodyOf, linkOf, mailOf } from "../../../src/alerts/message.ts";
import type { Occurrence } from "../../../src/alerts/occurrence.ts";
import { nextAttempt, RETRY_AFTER_MS, restAfter } from "../../../src/alerts/retry-times.ts";
import { drawSecret, rotated, ROTATION_MS, signatureOf } from "../../../src/alerts/signature.ts";
import { hear, isWanted, type KnownCondition } from "../../../src/alerts/telling.ts";
import { isLike } from "../../../src/config/wildcard.ts";
import { MAX_QUEUE_DELAY_S } from "../../../src/limits.ts";

const HOUR = 3_600_000;
const context = { team: "acme", alert: "oncall", origin: "https://edgewise.example" };
const told = (text: string): Occurrence => ({
  id: "run/acme/0000abcd/1/failed",
  type: "run.failed",
  at: Date.UTC(2026, 0, 2, 3, 4, 5),
  names: ["nightly"],
  subject: { run_id: "0000abcd", schedule: "nightly" },
  text,
  data: { avg_reward: 0.25 },
});

describe("a message that is not taken", () => {
  it("is sent again at each time of the timetable, over 24 hours, and then no more", () => {
    const first_at = 1_000;
    const times = [0];
    for (let tries = 1, now = first_at; ; tries++) {
      const next = nextAttempt({ first_at, tries, asked_ms: null }, now, 0);
      if (next === null) break;
      times.push(next - first_at);
      now = next;
    }
    expect(times).toEqual([0, 5_000, 60_000, 5 * 60_000, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 19 * HOUR, 24 * HOUR]);
    const waits = times.slice(1).map((time, n) => time - (times[n] ?? 0));
    // With what spreads them, one message of the queue carries each wait.
    expect(Math.max(...waits) * 1.1).toBeLessThan(MAX_QUEUE_DELAY_S * 1_000);
  });

  it("is spread a little, waits as long as its receiver asked, an hour at most, and after a long outage not for all that it missed", () => {
    const tried = { first_at: 0, tries: 5, asked_ms: null };
    expect(nextAttempt(tried, 0, 1)).toBe(2 * HOUR + 0.1 * 1.5 * HOUR);
    expect(nextAttempt({ first_at: 0, tries: 1, asked_ms: 30_000 }, 0, 0)).toBe(30_000);
    expect(nextAttempt({ first_at: 0, tries: 1, asked_ms: 100 * HOUR }, 0, 0)).toBe(HOUR);
    expect(nextAttempt({ first_at: 0, tries: RETRY_AFTER_MS.length, asked_ms: null }, 50 * HOUR, 0)).toBe(50 * HOUR + 5_000);
    expect([0, 1, 2, 3, 50].map(restAfter)).toEqual([0, 5_000, 10_000, 20_000, 300_000]);
  });

  it("was refused by any answer but 2xx; what a receiver asks for is read as seconds or as a date", () => {
    expect([200, 204, 299].map(statusProblem)).toEqual([null, null, null]);
    expect(statusProblem(302)).toContain("redirects are not followed");
    expect([410, 429, 500].every((status) => statusProblem(status) !== null)).toBe(true);
    const now = Date.UTC(2026, 0, 1);
    expect(askedWait("120", now)).toBe(120_000);
    expect(askedWait("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30_000);
    expect([null, "soon", ""].map((header) => askedWait(header, now))).toEqual([null, null, null]);
  });
});

describe("a signature", () => {
  it("is what the standardwebhooks package verifies, for one secret and for two while they change", async () => {
    const [before, after] = [drawSecret(), drawSecret()];
    const now = Math.floor(Date.now() / 1_000);
    const body = JSON.stringify({ text: "ünïcode ☃" });
    const both = rotated({ secret: before }, after, now * 1_000);
    const headers = async (at: number) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": String(at),
      "webhook-signature": await signatureOf(both, "msg_1", at, body),
    });
    for (const secret of [before, after]) expect(new Webhook(secret).verify(body, await headers(now))).toEqual({ text: "ünïcode ☃" });
    const sent = await headers(now);
    expect(() => new Webhook(drawSecret()).verify(body, sent)).toThrow();
    const over = await signatureOf(both, "msg_1", now + ROTATION_MS / 1_000, body);
    expect(over.split(" ")).toHaveLength(1);
  });
});

describe("what a receiver is sent", () => {
  const nasty = told("FAILED <!channel> & *bold* @everyone\nsecond line [x](https://evil.example)");

  it("is type, time and data for a webhook, with the page of the run", () => {
    expect(JSON.parse(bodyOf("webhook", nasty, context))).toEqual({
      type: "run.failed",
      timestamp: "2026-01-02T03:04:05.000Z",
      data: {
        id: nasty.id,
        team: "acme",
        alert: "oncall",
        text: nasty.text,
        link: "https://edgewise.example/dashboard/evaluations/0000abcd?team=acme",
        run_id: "0000abcd",
        schedule: "nightly",
        names: ["nightly"],
        facts: { avg_reward: 0.25 },
      },
    });
    expect(linkOf(nasty, { ...context, origin: null })).toBeNull();
    expect(linkOf({ ...nasty, subject: { monitor: "m" } }, context)).toBeNull();
  });

  it("calls nobody in Slack and Discord, whatever a run or a model is called, and is no longer than they take", () => {
    const slack = (JSON.parse(bodyOf("slack", nasty, context)) as { text: string }).text;
    expect(slack).toContain("&lt;!channel&gt; &amp;");
    expect(slack).toContain("<https://edgewise.example/dashboard/evaluations/0000abcd?team=acme|Open the run>");
    const discord = JSON.parse(bodyOf("discord", told(`${"*".repeat(999)}@everyone`), context)) as { content: string; allowed_mentions: unknown };
    expect(discord.allowed_mentions).toEqual({ parse: [] });
    expect(discord.content.length).toBeLessThanOrEqual(2_000);
    expect(discord.content).toMatch(/<https:\/\/edgewise\.example\/dashboard\/evaluations\/0000abcd\?team=acme>$/);
    const { subject, text } = mailOf(nasty, context);
    expect(subject).not.toContain("\n");
    expect(text).toContain("avg_reward: 0.25");
  });

  it("hides the whole address and its parts, and every secret", () => {
    const hidden = hiddenIn({
      version: 1,
      url: "https://hooks.example/services/T0000001/B0000002/sekret-part?key=0123456789",
      signing: { secret: "whsec_AAAABBBB" },
    });
    expect(hidden).toEqual(expect.arrayContaining(["sekret-part", "T0000001", "key=0123456789", "whsec_AAAABBBB", "AAAABBBB"]));
    expect(hidden).not.toContain("https:");
  });
});

describe("whether it is told at all", () => {
  it("is decided by type and by names, in which * stands for anything", () => {
    const wanted = (patterns: string[], names: string[]) => isWanted({ to: "webhook", on: ["drift"], for: patterns }, { type: "drift", names });
    expect(wanted(["*"], [])).toBe(true);
    expect(wanted(["night*"], ["daily", "nightly"])).toBe(true);
    expect(wanted(["night"], ["nightly"])).toBe(false);
    expect(isWanted({ to: "webhook", on: ["drift"], for: ["*"] }, { type: "run.failed", names: ["nightly"] })).toBe(false);
    for (const [pattern, text, like] of [
      ["a*b*c", "a-b-c", true],
      ["a*b*c", "acb", false],
      ["*a", "a", true],
      ["a*a", "a", false],
      ["**", "", true],
      ["a.c", "abc", false],
      [`${"*a".repeat(40)}b`, "a".repeat(5_000), false],
    ] as const)
      expect(isLike(pattern, text), `${pattern} ${text.slice(0, 10)}`).toBe(like);
  });

  it("a condition is news when it begins and when it ends; what comes late or twice is not", () => {
    const play = (...said: readonly (readonly ["on" | "off", number])[]): readonly boolean[] => {
      let known: KnownCondition | null = null;
      return said.map(([state, at]) => {
        const heard = hear(known, { condition: { key: "k", state }, at });
        known = heard.known;
        return heard.isNews;
      });
    };
    expect(play(["on", 1], ["on", 2], ["off", 3], ["off", 4], ["on", 5])).toEqual([true, false, true, false, true]);
    expect(play(["off", 1], ["on", 2])).toEqual([false, true]);
    expect(play(["on", 1], ["off", 5], ["on", 3])).toEqual([true, true, false]);
    expect(hear({ state: "on", at: 1, since: 1 }, { condition: { key: "k", state: "off" }, at: 9 }).madeBefore).toBe(1);
    expect([hear(null, { at: 1 }), hear(null, { at: 1 })].map(({ isNews }) => isNews)).toEqual([true, true]);
  });
});
