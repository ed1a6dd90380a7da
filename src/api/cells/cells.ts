import { columns } from "./columns.ts";
import { previews } from "./previews.ts";
import { rollouts } from "./rollouts.ts";
import { search } from "./search.ts";

/** What a grid of rollouts and a page of one are read from. */
export const cells = [columns, previews, search, rollouts] as const;
