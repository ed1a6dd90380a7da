import { afterEach, beforeEach, expect, it } from "vitest";
import { created, type Door, closeTeam, openTeam } from "../support/people.ts";

/** Runs that a team has a name for, at the door of a deployed service, in real objects. */
let door: Door;
let ada: string;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
});
afterEach(closeTeam);

const list = async (token: string) => (await door.json<{ data: readonly { name: string; run_id: string }[] }>(token, "GET", "/baselines")).data;

it("is a run of the team by a name, until the name is another's or nobody's", async () => {
  const [first, second] = [await created(door, ada), await created(door, ada)];
  expect(await door.json(ada, "PUT", "/baselines/main", { run_id: first })).toMatchObject({ data: { name: "main", run_id: first, updated_by: "ada" } });
  await door.json(ada, "PUT", "/baselines/v1.2", { run_id: first });
  await door.json(ada, "PUT", "/baselines/main", { run_id: second });
  expect(await list(ada)).toMatchObject([
    { name: "main", run_id: second },
    { name: "v1.2", run_id: first },
  ]);
  expect(await door.json(ada, "GET", "/baselines/main")).toMatchObject({ data: { run_id: second } });
  expect(await door.status(ada, "PUT", "/baselines/main", { run_id: "00000000" })).toBe(404);
  for (const name of ["1a2b3c4d", "a%20b", ".a", "a".repeat(65)]) expect(await door.status(ada, "PUT", `/baselines/${name}`, { run_id: first })).toBe(422);
  expect(await door.status(ada, "PUT", "/baselines/main", { run_id: "main" })).toBe(422);
  expect([await door.status(ada, "DELETE", "/baselines/main"), await door.status(ada, "DELETE", "/baselines/main")]).toEqual([200, 404]);
  expect([await door.status(ada, "GET", "/baselines/main"), await door.status(ada, "GET", `/evaluations/${second}`)]).toEqual([404, 200]);
});

it("is named by nobody else, and changed by who may make runs", async () => {
  const run = await created(door, ada);
  await door.json(ada, "PUT", "/baselines/main", { run_id: run });
  await door.join("bob", ["quokkas"]);
  const bob = await door.token("bob", ["quokkas"], ["runs:write"]);
  expect(await list(bob)).toEqual([]);
  for (const method of ["GET", "DELETE"]) expect(await door.status(bob, method, "/baselines/main")).toBe(404);
  expect(await door.status(bob, "PUT", "/baselines/main", { run_id: run })).toBe(404);
  const reader = await door.token("ada", ["acme"], ["runs:read"]);
  expect(await door.status(reader, "GET", "/baselines/main")).toBe(200);
  expect([await door.status(reader, "PUT", "/baselines/main", { run_id: run }), await door.status(reader, "DELETE", "/baselines/main")]).toEqual([403, 403]);
  const admin = await door.token("ada", ["acme"], ["admin"]);
  const { data } = await door.json<{ data: { action: string; target: string | null }[] }>(admin, "GET", "/audit");
  expect(data.filter(({ action }) => action.startsWith("baseline."))).toMatchObject([{ action: "baseline.set", target: "main" }]);
});
