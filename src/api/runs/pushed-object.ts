import type { RunView } from "../../../durable-objects/run/control.ts";
import { evaluation } from "../response-schemas.ts";

/** What an evaluation that was pushed says differently: what whoever pushed it said. Empty for others. */
export function pushedFields({ pushed, config }: RunView): Record<string, unknown> {
  if (pushed === undefined) return {};
  const { facts } = pushed;
  return {
    name: facts.name ?? `${config.env_id}-${config.model}`,
    dataset: facts.dataset ?? config.env_id,
    framework: facts.framework,
    task_type: facts.task_type,
    description: facts.description,
    environment_ids: facts.environments,
    suite_id: facts.suite_id,
    run_id: facts.run_id,
    version_id: facts.version_id,
    tags: facts.tags,
    is_hosted: false,
    total_samples: pushed.samples,
  };
}

/** The same in our own terms. */
export function pushedState({ pushed }: RunView): Record<string, unknown> {
  if (pushed === undefined) return {};
  const { facts, batches, samples, examples, unread, closing, differences } = pushed;
  return { origin: "pushed", pushed: { batches, samples, examples, unread_batches: unread, closing, metrics: facts.metrics, differences } };
}

const KNOWN: Readonly<Record<string, { safeParse(value: unknown): { readonly success: boolean } }>> = evaluation.shape.metadata.shape;

/** What else was pushed, whatever that is; but nothing of another kind under a name that stands for something in an answer, which its readers go by. */
export const freeMetadata = ({ pushed }: RunView): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(pushed?.facts.metadata ?? {}).filter(([name, value]) => !Object.hasOwn(KNOWN, name) || KNOWN[name]?.safeParse(value).success === true),
  );
