import { describe, expect, it } from "vitest";
import { MAX_TAGS } from "../../../src/config/options/hosted-options.ts";
import { projectionOf } from "../../../durable-objects/run/reading/view.ts";
import * as answers from "../../../src/api/response-schemas.ts";
import { evaluationList } from "../../../src/api/runs/list-schemas.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";

const BODY = { environment_ids: ["gsm8k"], inference_model: "m" };
const create = (door: Door, tags: unknown, headers: Record<string, string> = {}) =>
  door.call("POST", "/hosted-evaluations", { ...BODY, eval_config: { tags } } as never, headers);
const idOf = async (response: Response): Promise<string> => answers.created.parse(await response.json()).evaluation_id;

describe("tags and the maker of a run", () => {
  it("are kept with it, each tag once, and shown by the run and the list", async () => {
    const door = openDoor({ local: false, token: "owner" });
    const token = door.people.token({ user: "ada", teams: ["default"], scopes: ["runs:write"] });
    const headers = { authorization: `Bearer ${token}` };
    const id = await idOf(await create(door, ["nightly", "v2", "nightly"], headers));
    expect(door.run(id).creations[0]?.config).toMatchObject({ tags: ["nightly", "v2"], created_by: "ada" });
    const shown = answers.evaluation.parse(await (await door.call("GET", `/evaluations/${id}`, undefined, headers)).json());
    expect(shown).toMatchObject({ tags: ["nightly", "v2"], eval_config: { tags: ["nightly", "v2"] }, edgewise: { created_by: "ada" } });
    const view = door.run(id).state;
    door.registry.projections = view === null ? [] : [projectionOf({ ...view, started_at: 1_000, ended_at: 2_000, status: "COMPLETED" }, 1)];
    const listed = await (await door.call("GET", "/evaluations/?tag=v2&created_by=ada", undefined, headers)).json();
    expect(evaluationList.parse(listed).evaluations[0]).toMatchObject({
      tags: ["nightly", "v2"],
      started_at: "1970-01-01T00:00:01.000Z",
      finalized_at: "1970-01-01T00:00:02.000Z",
      edgewise: { created_by: "ada" },
    });
    expect(door.registry.queries).toEqual([expect.objectContaining({ tag: "v2", created_by: "ada" })]);
  });

  it("are absent from a run without them, and from what the service noted of runs of before", async () => {
    const door = openDoor();
    const id = await idOf(await create(door, []));
    expect(door.run(id).creations[0]?.config).not.toHaveProperty("tags");
    const view = door.run(id).state;
    if (view === null) throw new Error("no run");
    const { started_at: _, ended_at: __, created_by: ___, ...before } = projectionOf(view, 1);
    door.registry.projections = [before];
    const [run] = evaluationList.parse(await (await door.call("GET", "/evaluations/")).json()).evaluations;
    expect(run).toMatchObject({ tags: [], started_at: null, finalized_at: null });
    expect(run?.edgewise).not.toHaveProperty("created_by");
  });

  it("are sixteen of forty characters at most, and more, longer or hidden ones are refused by name", async () => {
    const most = Array.from({ length: MAX_TAGS }, (_, n) => String(n).padStart(40, "x"));
    expect((await create(openDoor(), most)).status).toBe(200);
    for (const tags of [[...most, "one"], ["x".repeat(41)], ["a,b"], [" a"], [""], ["a\u0007"], "nightly"]) {
      const refused = await create(openDoor(), tags);
      expect([refused.status, tags]).toEqual([422, tags]);
      expect(JSON.stringify(await refused.json())).toContain('"body","eval_config","tags"');
    }
  });
});
