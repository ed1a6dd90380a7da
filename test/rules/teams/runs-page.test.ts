import { describe, expect, it } from "vitest";
import type { RunProjection } from "../../../durable-objects/registry/registry-control.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const idOf = (index: number): string => index.toString(16).padStart(8, "0");
const projection = (index: number, changes: Partial<RunProjection> = {}): RunProjection => ({
  run_id: idOf(index),
  version: 1,
  env_id: "gsm8k",
  model: "openai/gpt-4.1-mini",
  name: null,
  status: "COMPLETED",
  active: false,
  settled: true,
  num_examples: 50,
  rollouts_per_example: 2,
  total_rollouts: 100,
  done_rollouts: 100,
  avg_reward: 0.5,
  error_message: null,
  created_at: CONFIG.created_at,
  updated_at: CONFIG.created_at,
  ...changes,
});

function doorWith(runs: readonly RunProjection[], facts: Parameters<typeof openDoor>[0] = {}): Door {
  const door = openDoor(facts);
  door.registry.projections = [...runs];
  return door;
}
const textOf = async (door: Door, path = "//dashboard/"): Promise<string> => (await door.call("GET", path)).text();

describe("the page of all runs", () => {
  it("is where / and /dashboard lead a browser, without a word of what is there", async () => {
    for (const facts of [{}, { local: false, token: "t" }])
      for (const path of ["//", "//dashboard"]) {
        const response = await doorWith([projection(1)], facts).call("GET", path);
        expect([response.status, response.headers.get("location"), await response.text()]).toEqual([302, "/dashboard/", ""]);
      }
    expect((await doorWith([]).call("GET", "//dashboard?page=2")).headers.get("location")).toBe("/dashboard/?page=2");
  });

  it("lets who works in several teams choose, and says nothing of teams to who has no choice", async () => {
    const door = openDoor({ local: false, token: "owner" });
    const token = door.people.token({ user: "ada", teams: ["acme", "other"] });
    const look = async (path: string) => (await door.call("GET", path, undefined, { authorization: `Bearer ${token}` })).text();
    const first = await look("//dashboard/");
    expect(first).toContain("<b>acme</b>");
    expect(first).toContain('<a href="/dashboard/?team=other">other</a>');
    expect(await look("//dashboard/?team=other")).toContain("<b>other</b>");
    expect(await look("//dashboard/?team=nobody")).toContain("Team not found");
    expect(await textOf(doorWith([projection(1)]))).not.toContain("Team:");
  });

  it("shows each run with its numbers and a link to its page", async () => {
    const text = await textOf(
      doorWith([projection(1), projection(2, { name: "nightly", status: "RUNNING", active: false, settled: false, done_rollouts: 7, avg_reward: null })]),
    );
    for (const shown of [`<a href="/dashboard/evaluations/${idOf(1)}">`, "COMPLETED", "100 of 100", "0.500", "nightly", "7 of 100", ", waiting to be resumed"])
      expect(text).toContain(shown);
    expect(text).not.toContain("http-equiv");
  });

  it("asks for itself again while a run goes on", async () => {
    expect(await textOf(doorWith([projection(1, { status: "RUNNING", active: true, settled: false })]))).toContain('http-equiv="refresh"');
  });

  it("has pages of fifty, and says which there are", async () => {
    const door = doorWith(Array.from({ length: 101 }, (_, index) => projection(index)));
    const [first, last, beyond] = await Promise.all(["", "?page=3", "?page=9"].map((query) => textOf(door, `//dashboard/${query}`)));
    expect(first).toContain("Page 1 of 3");
    expect(first).toContain(idOf(49));
    expect(first).not.toContain(idOf(50));
    expect(first).toContain('href="?page=2"');
    expect(last).toContain(idOf(100));
    expect(last).not.toContain("Older");
    expect(beyond).toContain("The list has 3 pages.");
    expect((await door.call("GET", "//dashboard/?page=0")).status).toBe(422);
  });

  it("says what to type where there is no run", async () => {
    expect(await textOf(doorWith([]))).toContain("npx edgewise eval run arithmetic --provider embedded");
  });

  it("escapes what users name their runs, and runs nothing", async () => {
    const response = await doorWith([projection(1, { name: "<script>alert(1)</script>", model: '"><img src=x onerror=alert(1)>' })]).call(
      "GET",
      "//dashboard/",
    );
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const text = await response.text();
    expect(text).toContain("&lt;script&gt;");
    expect(text).not.toMatch(/<script|<img/);
  });

  it("shows nothing without the token", async () => {
    const door = doorWith([projection(1)], { local: false, token: "t" });
    const refused = await door.call("GET", "//dashboard/", undefined, { accept: "text/html" });
    expect(refused.status).toBe(401);
    expect(await refused.text()).not.toContain(idOf(1));
    expect(await (await door.call("GET", "//dashboard/", undefined, { authorization: "Bearer t" })).text()).toContain(idOf(1));
  });
});

describe("addresses in answers", () => {
  it("are of the service that was asked, by the name it was asked by", async () => {
    for (const origin of ["http://localhost:8787", "http://[::1]:9000", "http://127.0.0.1:1"]) {
      const door = doorWith([projection(1)]);
      door.run(CONFIG.run_id).state = viewFor(CONFIG);
      const list = (await (await door.call("GET", `${origin}/api/v1/evaluations`)).json()) as { evaluations: { viewer_url: string }[] };
      const one = (await (await door.call("GET", `${origin}/api/v1/evaluations/${CONFIG.run_id}`)).json()) as { viewer_url: string };
      expect(list.evaluations[0]?.viewer_url).toBe(`${origin}/dashboard/evaluations/${idOf(1)}`);
      expect(one.viewer_url).toBe(`${origin}/dashboard/evaluations/${CONFIG.run_id}`);
    }
  });
});
