import type { FolderSource } from "./work.ts";

/** What a grant is for. */
export type TicketTask =
  | {
      readonly kind: "prepare";
      readonly attempt: number;
      /** Set when the run grows: its first `count` rows must still have this digest. */
      readonly pinned: { readonly count: number; readonly digest: string } | null;
      /** Set when rows of a result folder are to be taken over afterwards. */
      readonly adopt: (FolderSource & { readonly num_examples?: number }) | null;
      /** The run opens with the first examples while the others are still read (`PreparedRequest.more`); absent = they are pinned by one call, and from Runs of before. */
      readonly in_parts?: true;
      /** The run is open already: it is worked on beside its units. Absent = it opens with what this finds. */
      readonly beside?: true;
      /**
       * All of the newly pinned examples are permuted as one part, as a rule for stopping needs it; more than an executor can hold are refused.
       * Absent = each part by itself.
       */
      readonly whole_order?: true;
    }
  | { readonly kind: "units" }
  /** Rows of a result folder are to be taken over, beside the units that it lacks; those of the parts before `part`, and of `part` up to the example `through`, are. */
  | { readonly kind: "adopt"; readonly source: FolderSource; readonly part: number; readonly through?: number }
  /** Small segments are to be merged into larger ones, beside the units. */
  | { readonly kind: "merge" }
  /** Batches of a pushed evaluation are to be read, and their samples put into their order (pushed/intake.ts). */
  | { readonly kind: "intake" }
  /** Requests of the run are to be brought to the provider in batches, and their answers back (batching/plan.ts), beside the units. */
  | { readonly kind: "batch" }
  | { readonly kind: "finalise"; readonly attempt: number; readonly generation: number };
