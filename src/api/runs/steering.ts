import type { Context } from "hono";
import { Hono } from "hono";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { configKey } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { shownConfig } from "../../config/plan/shown-config.ts";
import { STEERED_FIELDS, type SteeredSettings } from "../../config/plan/steered.ts";
import { ok, type Result } from "../../errors/result.ts";
import { loweredText } from "../../teams/admission.ts";
import { tokenUseOf } from "../../teams/caller.ts";
import { teamField } from "../../teams/team-name.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { logUnexpected, unwrap } from "../errors.ts";
import { unlessOlder } from "../older-object.ts";
import { emptyBody } from "../schemas.ts";
import { runIdOf, runOf, viewOf } from "./run-of.ts";
import { steerBody } from "./steering-schemas.ts";

/** `/evaluations/{id}`: pause, continue and set a run that works. */
export const steering = new Hono<AppContext>();

steering.post("/:id/pause", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  unwrap(await runOf(c).steer({ kind: "pause" }));
  return c.json({ message: "Evaluation paused; what is in progress is finished first, and nothing begins until it is continued." });
});

steering.post("/:id/continue", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  unwrap(await runOf(c).steer({ kind: "continue" }));
  return c.json({ message: "Evaluation continued." });
});

steering.patch("/:id", async (c) => {
  const settings = parseBody(steerBody, await readJsonText(c.req.raw)) as SteeredSettings;
  const before = await viewOf(c);
  const { wanted, granted } = unwrap(await roomFor(c, before, settings));
  const answer = await runOf(c).steer({ kind: "set", settings: granted === undefined ? settings : { ...settings, max_concurrent: granted } });
  if (!answer.ok && granted !== undefined) await giveRoomBack(c, before);
  const { config } = unwrap(answer);
  if (granted !== undefined) await countAsItIs(c);
  await c.var.ports.store.putText(configKey(config.run_id), `${JSON.stringify(shownConfig(config))}\n`);
  const warnings =
    granted === undefined || wanted === undefined || granted === wanted ? [] : [loweredText(granted, wanted).replace(" A resume asks again.", "")];
  return c.json({ evaluation_id: runIdOf(c), settings: settingsOf(config), warnings });
});

const settingsOf = (config: RunConfig): Record<string, number | null> => Object.fromEntries(STEERED_FIELDS.map((field) => [field, config[field] ?? null]));

/** Of a run at work what its team and the token leave for it, its own part among that. Nothing where the number of its requests stays. */
async function roomFor(
  c: Context<AppContext>,
  view: RunView,
  { max_concurrent: wanted }: SteeredSettings,
): Promise<Result<{ wanted?: number; granted?: number }>> {
  const isAtWork = view.phase !== "settled" && !view.suspended;
  if (wanted === undefined || wanted === view.config.max_concurrent || !isAtWork) return ok({});
  const admitted = await unlessOlder(admission(c, wanted), ok(wanted));
  return admitted.ok ? ok({ wanted, granted: admitted.value }) : admitted;
}

function admission(c: Context<AppContext>, rollouts: number): Promise<Result<number>> {
  const { caller, ports } = c.var;
  return ports.registry.admitResume({ run_id: runIdOf(c), rollouts, token: tokenUseOf(caller), now: ports.now(), ...teamField(ports.team) });
}

/**
 * Two that set a run at once may be told to the Registry in one order and to the Run in the other. What the Run has after each of them is told once more, until it
 * has the same after that: whoever tells it last has seen it as it stays.
 */
async function countAsItIs(c: Context<AppContext>): Promise<void> {
  try {
    let now = (await viewOf(c)).config.max_concurrent;
    for (let told = Number.NaN; told !== now; now = (await viewOf(c)).config.max_concurrent) {
      told = now;
      await unlessOlder(admission(c, told), ok(told));
    }
  } catch (error) {
    logUnexpected("the count of a run that was set", error);
  }
}

const giveRoomBack = (c: Context<AppContext>, { config }: RunView): Promise<unknown> =>
  admission(c, config.max_concurrent).catch((error: unknown) => logUnexpected("a limit that was not set", error));
