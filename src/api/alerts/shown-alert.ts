import type { AlertFacts, DeliveryFacts } from "../../../durable-objects/alert-book/alert-book-control.ts";
import { mask } from "../../errors/masking.ts";

/** An alert and its messages as the service shows them. */

const iso = (at: number): string => new Date(at).toISOString();

export const deliveryShown = ({ id, alert, type, text, at, state, tries, next_at, attempts }: DeliveryFacts) => ({
  ...{ id, alert, type, text: mask(text), at: iso(at), state, tries, next_at: next_at === null ? null : iso(next_at) },
  attempts: attempts.map(({ at: sent, ms, status, problem, body }) => ({
    ...{ at: iso(sent), ms, status, problem: problem === null ? null : mask(problem), body: mask(body) },
  })),
});

export const alertShown = ({ name, definition, created_at, created_by, updated_at, disabled, waiting, last }: AlertFacts) => ({
  ...{ name, definition, created_at: iso(created_at), created_by, updated_at: iso(updated_at) },
  disabled: disabled === null ? null : { at: iso(disabled.at), reason: disabled.reason },
  waiting,
  last: last === null ? null : deliveryShown(last),
});
