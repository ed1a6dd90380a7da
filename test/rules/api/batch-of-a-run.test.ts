import { describe, expect, it } from "vitest";
import { z } from "zod";
import { runState } from "../../../src/api/response-schemas.ts";
import type { JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import { COMMAND_SECRET, CONFIG, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const ID = "0000abcd";

const create = (eval_config: JsonObject, headers: Record<string, string> = {}) => {
  const door = openDoor();
  const body = { environment_ids: ["gsm8k"], inference_model: "m", eval_config };
  return { door, answer: door.call("POST", "/hosted-evaluations", body, headers) };
};

async function configOf(eval_config: JsonObject, headers?: Record<string, string>): Promise<RunConfig | undefined> {
  const { door, answer } = create(eval_config, headers);
  const { evaluation_id } = (await (await answer).json()) as { evaluation_id: string };
  return door.run(evaluation_id).creations[0]?.config;
}

async function refusal(answer: Promise<Response>): Promise<readonly string[]> {
  const response = await answer;
  const { detail } = (await response.json()) as { detail: { loc: string[]; msg: string }[] };
  return [String(response.status), ...detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`)];
}

async function resume(config: Partial<RunConfig>, body: JsonObject): Promise<{ readonly answer: Response; readonly asked: unknown }> {
  const door = openDoor();
  door.run(ID).state = viewFor({ ...CONFIG, ...config });
  const answer = await door.call("POST", `/evaluations/${ID}/resume`, body);
  return { answer, asked: door.run(ID).resumes[0] };
}

describe("batches of a run", () => {
  it("are asked for by its creation, which gives it a day where it says no time; else it is as ever", async () => {
    expect(await configOf({ batch: true })).toMatchObject({ batch: true, timeout_minutes: 1440 });
    expect(await configOf({ batch: true }, { "x-edgewise-attended": COMMAND_SECRET })).toMatchObject({ attended: true, timeout_minutes: 1440 });
    expect(await configOf({ batch: true, timeout_minutes: 90 })).toMatchObject({ batch: true, timeout_minutes: 90 });
    for (const given of [{}, { batch: false }] as JsonObject[]) {
      const config = await configOf(given);
      expect(config).toMatchObject({ timeout_minutes: 120 });
      expect(config).not.toHaveProperty("batch");
    }
  });

  it.each(["openai_chat_completions", "openai_completions", "openai_responses", "anthropic_messages"])("are taken for %s", async (api_client_type) => {
    expect(await configOf({ batch: true, api_client_type })).toMatchObject({ batch: true, api_client_type });
  });

  it.each([
    [{ api_client_type: "openai_chat_completions_token" }, "batch: needs a client type with a batch route"],
    [{ api_client_type: "workers_ai" }, "batch: needs a client type with a batch route"],
    [{ sampling_args: { stream: true } }, "sampling_args: stream"],
    [{ sampling_args: { extra_body: { stream: true } } }, "sampling_args: stream"],
    [{ sampling_args: { service_tier: "flex" } }, "sampling_args: service_tier"],
    [{ sampling_args: { extra_body: { service_tier: "priority" } } }, "sampling_args: service_tier"],
    [{ headers_from_state: { "X-Example": "example_id" } }, "headers_from_state: requests of a batch have no headers"],
    [{ stop_when: "halfwidth<0.05" }, "stop_when: stops before all examples are asked"],
  ])("are refused beside %j, by the name of what is in the way", async (given, expected) => {
    const [status, ...problems] = await refusal(create({ ...given, batch: true } as unknown as JsonObject).answer);
    expect([status, problems]).toEqual(["422", [expect.stringContaining(`body.eval_config.${expected}`)]]);
    expect((await create(given as unknown as JsonObject).answer).status).not.toBe(500);
  });

  it("are shown as they were asked for", async () => {
    const door = openDoor();
    door.run(ID).state = viewFor({ ...CONFIG, batch: true });
    expect(await (await door.call("GET", `/evaluations/${ID}`)).json()).toMatchObject({ eval_config: { batch: true } });
    door.run(ID).state = viewFor(CONFIG);
    expect(JSON.stringify(await (await door.call("GET", `/evaluations/${ID}`)).json())).not.toContain('"batch"');
  });

  it("are shown with where they stand, and as OpenAPI describes it", async () => {
    const door = openDoor();
    const job = {
      job: 1,
      state: "submitted",
      requests: 10,
      counts: { answered: 4, failed: 1 },
      batch_id: "batch_1",
      submitted_at: 1,
      ended_at: null,
      expires_at: 2,
    } as const;
    const batch = { unasked: 3, jobs: [job], requests: 10, answered: 4, failed: 1, lost: { expired: 2 }, look_at: 5, closing: null };
    door.run(ID).state = { ...viewFor({ ...CONFIG, batch: true }), batch };
    const shown = (await (await door.call("GET", `/evaluations/${ID}`)).json()) as { edgewise: unknown };
    expect(shown).toMatchObject({ edgewise: { batch } });
    expect(runState.extend({ settings: z.looseObject({}) }).safeParse(shown.edgewise).error?.issues).toBeUndefined();
  });

  it("are turned to, kept and left by a resume", async () => {
    expect((await resume({}, { batch: true })).asked).toMatchObject({ batch: true });
    expect((await resume({ batch: true }, {})).asked).toMatchObject({ batch: null });
    expect((await resume({ batch: true }, { batch: false })).asked).toMatchObject({ batch: false });
  });

  it("are refused to a resume as to a creation, by what it says or by what the run has", async () => {
    const streaming = { sampling_args: { stream: true } };
    expect(await refusal(resume(streaming, { batch: true }).then(({ answer }) => answer))).toEqual(["422", expect.stringContaining("body.batch: stream")]);
    expect((await resume(streaming, {})).answer.status).toBe(200);
    const stated = await resume({ batch: true }, { headers_from_state: { "X-Example": "example_id" } });
    expect(await refusal(Promise.resolve(stated.answer))).toEqual(["422", expect.stringContaining("body.headers_from_state: requests of a batch")]);
    expect((await resume({ batch: true, stop_when: "mean<0.7", stop_alpha: 0.05 }, { stop_when: "never" })).answer.status).toBe(200);
  });
});
