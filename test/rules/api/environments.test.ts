import { describe, expect, it } from "vitest";
import type { EnvironmentFacts } from "../../../src/api/creation/resolve.ts";
import * as hub from "../../../src/api/published/published-schemas.ts";
import * as answers from "../../../src/api/response-schemas.ts";
import { ENVIRONMENTS } from "../../support/door/fake-environments.ts";
import { openDoor } from "../../support/door/fake-ports.ts";

const look = async (path: string) => {
  const response = await openDoor().call("GET", path);
  return { status: response.status, body: (await response.json()) as { id?: string; detail?: string; data?: Record<string, unknown> } };
};

describe("the lookup of an environment", () => {
  it("gives an id that a creation takes back, flat and under data", async () => {
    const { status, body } = await look("/environmentshub/edgewise/gsm8k/@latest");
    expect(status).toBe(200);
    expect(hub.environment.parse(body)).toMatchObject({
      id: "gsm8k",
      latest_version: { semantic_version: "0.1.0", content_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const created = await openDoor().call("POST", "/hosted-evaluations", { environment_ids: [String(body.id)], inference_model: "m" });
    expect(created.status).toBe(200);
  });

  it("says what it takes, and what its code needs and reaches; of one whose code alone knows its arguments that", async () => {
    const [known] = ENVIRONMENTS as [EnvironmentFacts];
    const { describedArgs: _, ...closed } = { ...known, id: "closed", keys: ["SEARCH_KEY"], hosts: ["api.example.com"] };
    const door = openDoor({}, undefined, undefined, [known, closed]);
    const of = async (name: string) => hub.environment.parse(await (await door.call("GET", `/environmentshub/edgewise/${name}/@latest`)).json()).metadata;
    expect(await of("gsm8k")).toMatchObject({ args: [{ name: "difficulty", default: "medium" }], defaults: {}, keys: [], hosts: [] });
    expect(await of("closed")).toMatchObject({ args: null, keys: ["SEARCH_KEY"], hosts: ["api.example.com"] });
  });

  it("knows the version it has", async () => {
    expect((await look("/environmentshub/edgewise/gsm8k/@0.1.0")).status).toBe(200);
    expect((await look("/environmentshub/edgewise/gsm8k/@0.2.0")).body.detail).toContain("gsm8k@0.1.0");
  });

  it.each([
    "/environmentshub/primeintellect/gsm8k/@latest",
    "/environmentshub/edgewise/nothing/@latest",
    "/environmentshub/a/b/c/@latest",
    "/environmentshub/edgewise/%00/@latest",
    "/environmentshub/edgewise/..%2Fgsm8k/@latest",
  ])("is a 404 for %s", async (path) => expect((await look(path)).status).toBe(404));
});

describe("the user", () => {
  it("is edgewise, whose slug stands before bundled environments, in the default team", async () => {
    const { body } = await look("/user/whoami?teamId=t");
    expect(answers.whoami.parse(body).data).toMatchObject({ id: "edgewise", slug: "edgewise", name: "edgewise" });
    expect(answers.teams.parse((await look("/user/teams?offset=0&limit=100")).body)).toEqual({
      data: [{ teamId: "default", slug: "default", name: "default" }],
      total_count: 1,
      offset: 0,
      limit: 100,
    });
  });
});
