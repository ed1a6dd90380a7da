import { columns } from "./columns.ts";
import { rollouts } from "./rollouts.ts";

/** What a grid of rollouts and a page of one are read from. */
export const cells = [columns, rollouts] as const;
