import { useState } from "preact/hooks";
import type { ModelList } from "../../api/answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import type { Draft } from "./draft.ts";
import type { Form } from "./form.ts";
import { placeOptions, settingsOf } from "./settings.ts";

type ModelsQuery = Readonly<Record<string, string>>;

const OF_PLACE = ["api_base_url", "api_key_var", "api_client_type"];

/** The question which models there are where a draft's run would call one; null where it names no one place. */
export function modelsQueryOf(draft: Draft, form: Form): ModelsQuery | null {
  const { kind } = draft.place;
  if (kind === "endpoint" || kind === "replicas") return null;
  const { options } = settingsOf(draft, form).settings;
  const named = { ...Object.fromEntries(options.map(({ field, value }) => [field.name, value])), ...placeOptions(draft, options) };
  const query = Object.fromEntries(OF_PLACE.flatMap((name) => (typeof named[name] === "string" && named[name] !== "" ? [[name, named[name]]] : [])));
  return kind === "address" && query.api_base_url === undefined ? null : query;
}

interface Offered {
  readonly names: readonly string[];
  /** How many there are, or why none is known; "" before anybody looked. */
  readonly says: string;
  /** Somebody is about to say which model: looked for then, and not while an address is typed. */
  readonly look: () => void;
}

export function useOfferedModels(draft: Draft, form: Form): Offered {
  const now = modelsQueryOf(draft, form);
  const [wanted, setWanted] = useState<string | null>(null);
  const isWanted = now !== null && wanted === JSON.stringify(now);
  const { value, problem } = useAnswer<ModelList>(isWanted ? "/models" : null, now ?? {});
  const look = (): void => setWanted(now === null ? null : JSON.stringify(now));
  const names = value?.data ?? [];
  if (!isWanted) return { names: [], says: "", look };
  const failed = value?.problem ?? problem?.text ?? null;
  const counted = value === null ? "Asking for its models…" : `The server lists ${names.length}${value.more ? ", and more" : ""}.`;
  return { names, says: failed === null ? counted : `Its models are not known: ${failed}`, look };
}
