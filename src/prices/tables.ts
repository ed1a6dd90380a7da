import type { PriceTable } from "./price-table.ts";
import { TABLE_2026_11_23 } from "./tables/2026-11-23.ts";

/** Every table that was ever shipped, the newest last; none is taken out or changed. */
export const TABLES: readonly PriceTable[] = [TABLE_2026_11_23];

/** What runs that begin now are priced by. */
export const NEWEST_TABLE: PriceTable = TABLE_2026_11_23;
