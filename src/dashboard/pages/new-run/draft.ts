import type { Values } from "../../design/field/given.ts";

/** Where the model is. */
export type Place =
  /** As the service calls models where nothing is said, or at an address that is given among the options. */
  | { readonly kind: "service" | "address" }
  /** A provider by its name. */
  | { readonly kind: "provider"; readonly name: string }
  /** An endpoint that the service keeps for the team: the run's model is its id. */
  | { readonly kind: "endpoint"; readonly id: string }
  /** Several places, written out, as another run has them. */
  | { readonly kind: "replicas"; readonly replicas: readonly unknown[] };

/** A run as somebody writes it down before it is made: texts of fields, by what they say. */
export interface Draft {
  /** As a creation names it, without a version; "" = none is chosen. */
  readonly environment: string;
  /** "" = the latest. */
  readonly version: string;
  readonly args: Values;
  readonly place: Place;
  readonly model: string;
  /** Of `sampling_args`. */
  readonly sampling: Values;
  /** Other options by their names. */
  readonly options: Values;
}

export const EMPTY_DRAFT: Draft = {
  ...{ environment: "", version: "", args: {}, place: { kind: "service" }, model: "", sampling: {}, options: {} },
};

/** Values of one kind, of which each has a name. */
export type Group = "args" | "sampling" | "options";

/** Where something is wrong: `environment`, `model`, `place`, or a name behind its group. */
export type FieldName = "environment" | "model" | "place" | `${Group}.${string}`;

export const referenceOf = ({ environment, version }: Pick<Draft, "environment" | "version">): string =>
  version === "" ? environment : `${environment}@${version}`;
