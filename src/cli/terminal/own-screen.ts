/** The sequences with which a command takes the terminal for itself, and gives it back. */

/**
 * The terminal's other screen, so that what it does with old lines when it is resized touches nothing else; no line is broken at the
 * right edge, should it be too wide for the moment of a resize; no cursor.
 */
export const ENTER_SCREEN = "\u001b[?1049h\u001b[?7l\u001b[?25l\u001b[2J";

/** And the way back. Left empty, with the cursor at the top: a terminal that was resized meanwhile may keep lines for which it has no room. */
export const LEAVE_SCREEN = "\u001b[2J\u001b[H\u001b[?7h\u001b[?25h\u001b[?1049l";

/** A terminal that knows these shows what is between them at once. */
export const [BEGIN_FRAME, END_FRAME] = ["\u001b[?2026h", "\u001b[?2026l"] as const;
