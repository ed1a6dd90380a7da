import { describe, expect, it } from "vitest";
import { OverlongPromptError } from "../../../src/clients/overlong-prompt-error.ts";
import { refusedReply, withReply } from "../../../src/clients/relay/refused-reply.ts";
import { relayed } from "../../../src/clients/relay/relayed.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { ModelError } from "../../../src/errors/rollout-errors.ts";
import { MAX_WALLED_CALL_CHARACTERS } from "../../../src/limits.ts";
import type { Client, RelayReply, RelayRequest, State } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { both, dataset, run } from "../../support/walled/both.ts";
import { errorsOf } from "../../support/walled/lying.ts";
import { response, type Scripted, scripted } from "../../support/walled/units.ts";

const BODY = { model: "whatever", messages: [{ role: "user", content: "2+2" }], n: 3 };
const ok = (text: string): RelayReply => ({ status: 200, content_type: "application/json", text });

/** A client that passes requests on to `answer`. */
function relays(answer: (request: RelayRequest) => Promise<RelayReply> | RelayReply): Scripted & { readonly relayed: RelayRequest[] } {
  const seen: RelayRequest[] = [];
  return {
    ...scripted(() => response("4")),
    relayed: seen,
    relay: async (request) => {
      seen.push(request);
      request.onBegin?.();
      await Promise.resolve();
      return await answer(request);
    },
  };
}

/** An environment that speaks to the model's API itself. */
const environment = (work: (client: Client, state: State, signal: AbortSignal) => Promise<void>) => () =>
  new (class extends SingleTurnEnv {
    override async rollout(...[state, context]: Parameters<SingleTurnEnv["rollout"]>): Promise<State> {
      if (state.client !== null) await work(state.client, state, context.signal);
      return Object.assign(state, { completion: [], is_completed: true, stop_condition: "done" });
    }
  })({ dataset, rubric: new Rubric([]) });

const call = (client: Client, state: State, signal: AbortSignal, fields: Partial<RelayRequest> = {}): Promise<RelayReply> =>
  relayed(client, { route: "chat/completions", body: BODY, model: "mine", state, signal, ...fields });

describe("a request that an environment made itself", () => {
  it("is made by the engine's client, of the run's model, and its answer comes back as it came", async () => {
    const replies: RelayReply[] = [];
    const [, hosted] = await both(environment(async (client, state, signal) => void replies.push(await call(client, state, signal, { route: "responses" }))));
    const client = relays(() => ok('{"id": "ü 漢"}'));
    expect(errorsOf(await run(hosted, client, 2, {}))).toMatchObject([{ code: null }, { code: null }]);
    expect(replies).toEqual([ok('{"id": "ü 漢"}'), ok('{"id": "ü 漢"}')]);
    expect(client.relayed.map(({ route, body, model, state }) => ({ route, body, model, example: state.example_id }))).toEqual(
      [0, 1].map(() => ({ route: "responses", body: BODY, model: "m", example: 4 })),
    );
    expect(client.requests).toEqual([]);
  });

  it("that is refused has our error and the server's words", async () => {
    const said = { status: 400, content_type: "application/json", text: '{"error": {"message": "no n"}}' };
    const thrown: unknown[] = [];
    const [, hosted] = await both(
      environment(async (client, state, signal) => void thrown.push(await call(client, state, signal).catch((error: unknown) => error))),
    );
    for (const error of [new ModelError("no n", { code: "bad_request" }), new OverlongPromptError("too long")])
      await run(
        hosted,
        relays(() => Promise.reject(withReply(error, said))),
        1,
        {},
      );
    expect(thrown.map(refusedReply)).toEqual([said, said]);
    expect(thrown).toMatchObject([{ code: "bad_request" }, { name: "OverlongPromptError" }]);
    expect(thrown[1]).toBeInstanceOf(OverlongPromptError);
  });

  it("that no further call would fare better with ends the run, in the server's words", async () => {
    const [, hosted] = await both(environment(async (client, state, signal) => void (await call(client, state, signal))));
    const outcome = await run(
      hosted,
      relays(() => Promise.reject(new ModelError("the key is not accepted", { code: "auth_failed" }))),
      1,
      {},
    );
    expect(outcome.fatal).toEqual({ code: "auth_failed", message: "the key is not accepted" });
  });

  it("that nobody waits for any more is cancelled", async () => {
    const cancelled = Promise.withResolvers<unknown>();
    const [, hosted] = await both(
      environment(async (client, state) => {
        const own = new AbortController();
        const asked = call(client, state, own.signal);
        setTimeout(() => own.abort(new Error("enough")), 5);
        await expect(asked).rejects.toThrow("enough");
      }),
    );
    const client = relays(({ signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(cancelled.resolve(signal.reason)))));
    expect(errorsOf(await run(hosted, client, 1, {}))).toMatchObject([{ code: null }]);
    await expect(cancelled.promise).resolves.toMatchObject({ message: expect.stringContaining("wants no answer") });
  });

  it("has the limits of other calls", async () => {
    const [, hosted] = await both(
      environment(
        async (client, state, signal) => void (await call(client, state, signal, { body: { messages: "x".repeat(MAX_WALLED_CALL_CHARACTERS + 1) } })),
      ),
    );
    const client = relays(() => ok("{}"));
    expect(errorsOf(await run(hosted, client, 1, {}))).toMatchObject([
      { code: "environment_error", message: expect.stringMatching(/a request is JSON of at most 16 MiB/) },
    ]);
    expect(client.relayed).toEqual([]);
  });

  it("is a bad request where the run's client passes nothing on", async () => {
    const [, hosted] = await both(environment(async (client, state, signal) => void (await call(client, state, signal))));
    expect(
      errorsOf(
        await run(
          hosted,
          scripted(() => response("4")),
          1,
          {},
        ),
      ),
    ).toMatchObject([{ code: "bad_request" }]);
  });

  it("is the same to an environment that is not behind a wall", async () => {
    const [local, hosted] = await both(
      environment(async (client, state, signal) => {
        state.said = (await call(client, state, signal)).text;
      }),
    );
    const lines = await Promise.all(
      [local, hosted].map((each) =>
        run(
          each,
          relays(() => ok('"x"')),
          1,
          { stateColumns: ["said"] },
        ),
      ),
    );
    expect(lines.map(({ lines: [line] }) => (JSON.parse(line ?? "") as { said: string }).said)).toEqual(['"x"', '"x"']);
  });
});
