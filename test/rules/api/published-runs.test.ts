import { describe, expect, it } from "vitest";
import type { PublishedEnvironment } from "../../../durable-objects/registry/published/published-control.ts";
import type { EnvironmentFacts } from "../../../src/api/creation/resolve.ts";
import { keySources } from "../../../src/published/keys-of-published.ts";
import { ENVIRONMENTS } from "../../support/door/fake-environments.ts";
import { type FakeRegistry, openDoor } from "../../support/door/fake-ports.ts";

const [{ check, ...FACTS } = ENVIRONMENTS[0] as EnvironmentFacts] = ENVIRONMENTS;
const named = (id: string, version: string): EnvironmentFacts => ({ ...FACTS, check, id, version });
const version = (text: string, deleted_at: number | null = null) => ({
  ...{ version: text, digest: text.replaceAll(".", "").padEnd(64, "0"), bytes: 10, description: "Sums" },
  ...{ created_at: 0, created_by: "ada", deleted_at },
});
const MY_SUMS: PublishedEnvironment = {
  ...{ name: "my-sums", visibility: "PRIVATE", created_at: 0, updated_at: 0 },
  versions: [version("1.0.0"), version("1.1.0"), version("1.2.0", 5)],
};

/** A door at which the default team has published `my-sums`; a fake of it is offered under its id, whatever its version. */
function doorWith(own: readonly EnvironmentFacts[] = [], published = MY_SUMS) {
  const door = openDoor({}, undefined, undefined, [...ENVIRONMENTS, named("edgewise/my-sums", "1.1.0"), ...own]);
  (door.registry as FakeRegistry).published.set("my-sums", published);
  const create = async (reference: string) => {
    const answer = await door.call("POST", "/hosted-evaluations", { environment_ids: [reference], inference_model: "m" });
    const body = (await answer.json()) as { evaluation_id: string; detail: string; hint?: string };
    const config = door.runs.get(body.evaluation_id)?.creations[0]?.config;
    return { status: answer.status, detail: body.detail, hint: body.hint, pin: config?.published, env_id: config?.env_id };
  };
  return { door, create };
}

describe("a run of a published environment", () => {
  it("is pinned to version and code when it is made, however it is named", async () => {
    const { create } = doorWith();
    const pin = { owner: "edgewise", name: "my-sums", version: "1.1.0", digest: version("1.1.0").digest };
    for (const name of ["edgewise/my-sums", "edgewise/my-sums@latest", "edgewise/my-sums@1.1.0", "edgewise~my-sums", "my-sums"])
      expect(await create(name), name).toMatchObject({ status: 200, env_id: "edgewise/my-sums", pin });
    expect(await create("edgewise/my-sums@1.0.0")).toMatchObject({ status: 200, pin: { version: "1.0.0", digest: version("1.0.0").digest } });
  });

  it("is none where its version was deleted or never was, and is told which there is", async () => {
    const { create } = doorWith();
    expect(await create("edgewise/my-sums@1.2.0")).toMatchObject({
      ...{ status: 404, detail: expect.stringContaining("edgewise/my-sums@1.2.0 is deleted") },
      hint: expect.stringContaining("The latest is edgewise/my-sums@1.1.0"),
    });
    expect(await create("edgewise/my-sums@9.0.0")).toMatchObject({ status: 404, hint: expect.stringContaining("1.1.0") });
    expect(await create("edgewise/my-sums@next")).toMatchObject({ status: 404, hint: expect.stringContaining("MAJOR.MINOR.PATCH") });
    expect(await create("edgewise/nothing")).toMatchObject({ status: 404, hint: expect.stringContaining("This service has") });
  });

  it("is none once all of it was deleted, which its team is told; one of the service's own of that name is run then", async () => {
    const gone = { ...MY_SUMS, versions: [version("1.0.0", 5), version("1.1.0", 5)] };
    for (const asked of ["edgewise/my-sums", "edgewise/my-sums@1.0.0", "my-sums"])
      expect(await doorWith([], gone).create(asked), asked).toMatchObject({
        ...{ status: 404, detail: expect.stringContaining("edgewise/my-sums is deleted, with all its versions") },
        hint: expect.stringContaining("env push"),
      });
    expect(await doorWith([named("my-sums", "0.3.0")], gone).create("edgewise/my-sums")).toMatchObject({ status: 200, env_id: "my-sums", pin: undefined });
  });

  it("stands beside one of the service's own: with the owner in front it is the published one, without it the other", async () => {
    const { create } = doorWith([named("my-sums", "0.3.0")]);
    expect(await create("my-sums")).toMatchObject({ status: 200, env_id: "my-sums", pin: undefined });
    expect(await create("edgewise/my-sums")).toMatchObject({ status: 200, env_id: "edgewise/my-sums" });
    expect(await create("edgewise/gsm8k")).toMatchObject({ status: 200, env_id: "gsm8k", pin: undefined });
  });
});

describe("keys that a published environment declares", () => {
  it("come from its own team's secrets, never from another team's, and from the service's variables on one's own machine alone", () => {
    const pin = { owner: "acme", name: "my-sums", version: "1.0.0", digest: "" };
    expect(keySources({}, "acme", false)).toEqual({ team: true, service: true });
    expect(keySources({ published: pin }, "acme", false)).toEqual({ team: true, service: false });
    expect(keySources({ published: pin }, "quokkas", false)).toEqual({ team: false, service: false });
    expect(keySources({ published: { ...pin, owner: "edgewise" } }, undefined, true)).toEqual({ team: true, service: true });
    expect(keySources({ published: pin }, undefined, true)).toEqual({ team: false, service: false });
  });
});
