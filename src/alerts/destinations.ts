/** Where alerts may go. */
export const DESTINATIONS = ["webhook", "slack", "discord", "email"] as const;
export type Destination = (typeof DESTINATIONS)[number];
