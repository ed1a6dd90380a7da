/**
 * One line of text for a client that prints it as Rich markup, drops what looks like a progress bar, and turns emoji codes into
 * signs: as served here it is shown as it was written, by that client and by any other.
 */

/** Zero width non-joiner: shown as nothing, and enough to make a pattern no match. */
const UNSEEN = "\u200c";

/**
 * What Rich takes for a tag, with the backslashes before it: `[` and a lower-case letter, `#`, `/` or `@`, up to `]`. Of the
 * backslashes before any other bracket it takes one away.
 */
const TAG = /(\\*)(\[[a-z#/@][^[]*?\])|\\(?=\[)/g;
/**
 * Names of Rich's codes have letters, digits and these signs, so that the colons of an address stay as they are. No code consists of
 * two digits, and every line begins with a time of day.
 */
const EMOJI_CODE = /:(?!\d\d:)(?=[\p{L}\p{N}_!#&()*+.’-]+:)/gu;
/** `50%|`, and ten or more block characters or blanks between bars. */
const PERCENT_BAR = /(\d%)(?=\|)/g;
const BAR = /\|(?=[█▏▎▍▌▋▊▉ ]{10,}\|)/g;

export const forMarkup = (line: string): string =>
  line
    .replace(EMOJI_CODE, `:${UNSEEN}`)
    .replace(PERCENT_BAR, `$1${UNSEEN}`)
    .replace(BAR, `|${UNSEEN}`)
    // Doubled, or the last of them would take back what the one before the bracket does.
    .replace(TAG, (found, slashes: string | undefined, tag: string | undefined) => (tag === undefined ? `${found}${found}` : `${slashes}${slashes}\\${tag}`));

/** The same for a text that others read too, as `error_message` is: without the backslashes, which only such a client hides. */
export const withoutMarkup = (line: string): string =>
  line
    .replace(EMOJI_CODE, `:${UNSEEN}`)
    .replace(/\[(?=[a-z#/@])/g, `[${UNSEEN}`)
    .replace(/\\(?=\[)/g, `\\${UNSEEN}`);
