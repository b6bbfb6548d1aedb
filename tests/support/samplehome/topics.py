"""What developers in the samples talk about: openings of chats, and what they ask next.

Slots in braces are filled from the cast of one chat (`talk.Cast`), so a chat keeps to its module and function.
"""

from typing import NamedTuple

MODULES = (
    "billing", "invoice", "checkout", "inventory", "search", "webhook", "session", "scheduler", "importer",
    "exporter", "notifier", "catalog", "gateway", "uploader", "thumbnail", "ledger", "pricing", "shipping",
    "reporting", "audit", "geocoder", "throttle", "archive_job", "mailer", "settings", "permissions", "feed",
)  # fmt: skip
VERBS = (
    "apply", "load", "merge", "parse", "resolve", "collect", "render", "refresh", "validate", "normalize",
    "schedule", "publish", "retry", "group", "expire", "reserve", "match", "split",
)  # fmt: skip
NOUNS = (
    "discount", "rows", "window", "payload", "quota", "batch", "token_range", "address", "preview", "balance",
    "entries", "headers", "slots", "filters", "totals", "cursor_page", "digest", "events", "rates", "labels",
)  # fmt: skip
FIELDS = (
    "created_at", "currency", "customer_id", "locale", "status", "amount_cents", "retry_count", "due_date",
    "tenant_id", "checksum", "priority", "expires_at",
)  # fmt: skip
SUFFIXES = ("py", "ts", "go")
PROJECTS = (
    "shop-api", "fleet-tracker", "notes-sync", "render-farm", "ticket-desk", "weather-board", "recipe-index",
    "music-tagger",
)  # fmt: skip
MODELS = ("claude-4.5-sonnet-thinking", "gpt-5.5", "claude-4.6-sonnet", "gemini-3-pro", "composer-1")


class Exchange(NamedTuple):
    """One prompt, the assistant's thought about it, and its last word."""

    ask: str
    thought: str
    answer: str


class Topic(NamedTuple):
    """How a chat begins; its title is what Cursor would make of it."""

    title: str
    opening: Exchange


TOPICS = (
    Topic(
        "Flaky test in {module}",
        Exchange(
            "test_{func} in the {module} suite fails about once in {n} runs, only on CI. Can you find out why?",
            "Only on CI and only sometimes points to ordering or time. I should look for a shared fixture and for anything that reads the clock.",
            "The test is flaky because `{func}` reads the clock twice: once for the lower bound and once for `{field}`. When a run crosses a second boundary the two differ.\n\nI made `{func}` take `now` as an argument and froze it in the fixture. I ran the test {n} times in a loop and it passed every time.",
        ),
    ),
    Topic(
        "Slow query on {module} list",
        Exchange(
            "The {module} list page takes {ms} ms in production, locally it is fast. Where does the time go?",
            "Locally the table is small, so a missing index would not show. Let me look at the query and at what it sorts by.",
            "The query filters by `tenant_id` but sorts by `{field}`, and the only index covers `tenant_id`. With many rows per tenant the database sorts them all for every page.\n\nI added a migration with an index on `(tenant_id, {field})`. The plan now shows an index scan and no sort step.",
        ),
    ),
    Topic(
        "Timezone bug in {func}",
        Exchange(
            "Customers in Auckland get yesterday's date on their {module} export. I think {func} is the culprit, please check.",
            "A date that is off by one for eastern zones sounds like a naive UTC date that is formatted as local.",
            "You were right. `{func}` called `.date()` on a UTC timestamp, so everybody ahead of UTC saw the day before until noon.\n\nIt now converts to the customer's zone first. I added cases for Auckland, Honolulu and the day the clocks change.",
        ),
    ),
    Topic(
        "Retry storm against {module}",
        Exchange(
            "When the {module} service restarts, all workers hammer it at the same moment and it goes down again. How do we fix that?",
            "That is the thundering herd. Let me see how the retry delay is computed and whether there is any jitter.",
            "All workers wait the same fixed delay, so they come back together. I changed `{func}` to exponential backoff with full jitter, capped at 30 s, and it gives up after {n} tries.\n\nThe delay is now drawn in one place, which also made it easy to test with a seeded generator.",
        ),
    ),
    Topic(
        "Split {module} into smaller files",
        Exchange(
            "{module}.{suffix} has grown to {n}0 lines. I would like to split it without changing behaviour. What would you suggest?",
            "I should read it first and see which functions call which; a split along the call graph keeps imports simple.",
            "There are three clear groups: parsing, the rules around `{field}`, and output. I moved each to its own file and left re-exports in `{module}.{suffix}`, so no caller has to change today.\n\nNothing else was touched; the test suite passes as it did before.",
        ),
    ),
    Topic(
        "CSV import in {module} drops umlauts",
        Exchange(
            "Importing the supplier file turns Müller into MÃ¼ller. The file comes from a Windows machine. What is wrong in {func}?",
            "That pattern is UTF-8 read as Latin-1. Perhaps the code guesses the encoding from the first line only.",
            "`{func}` decides on the first 64 bytes, and those are plain ASCII, so it fell back to Latin-1.\n\nNow it tries UTF-8 (with or without a byte order mark) for the whole file and falls back only if that fails. “Müller”, “Łódź” and “東京” are in the tests.",
        ),
    ),
    Topic(
        "Off by one in {module} paging",
        Exchange(
            "The last {module} entry shows up on two pages. I suspect the paging in {func}.",
            "An entry that repeats at the seam usually means an inclusive bound on both sides.",
            "The next page starts at the last seen `{field}` with `>=`. Since `{field}` is not unique, the entry at the seam came twice.\n\nThe position is now the pair `({field}, id)` with a strict `>`, which also survives entries with the same `{field}`.",
        ),
    ),
    Topic(
        "{module} worker memory growth",
        Exchange(
            "The {module} worker grows by about {n} MB an hour until it gets killed. Could you look for a leak?",
            "Slow steady growth: a cache without a bound, a list on a module, or handlers that are registered again and again.",
            "There is a dictionary in `{cls}` that remembers every `{field}` it has seen and never forgets one. It was meant to stop duplicates within one batch.\n\nI moved it into the batch itself. After 50,000 items memory is flat.",
        ),
    ),
    Topic(
        "Smaller container image for {module}",
        Exchange(
            "Our {module} image is {n}0 MB. Most of it must be build tools. Can you slim it down?",
            "Let me see the build file: one stage, probably with the compiler left inside.",
            "I split the build in two stages: the first compiles the wheels, the second only installs them. Tests and documentation are kept out by the ignore file.\n\nThe image is about a third of what it was, and it now runs as a user without root rights.",
        ),
    ),
    Topic(
        "CI cache never hits for {module}",
        Exchange(
            "The CI job installs everything from scratch every time although we have a cache step. Why?",
            "Probably the key contains something that changes on each run. I will look at the workflow file.",
            "The key hashed the whole folder, including a file with the build number. I changed it to the hash of the lock file and added a fallback prefix.\n\nThe install step went from {n} s to 4 s in my test run.",
        ),
    ),
    Topic(
        "Type errors in {module} after upgrade",
        Exchange(
            "After upgrading the type checker we get {n} errors in {module}. Are these real?",
            "Some of these will be stricter checks of optional values. Let me run it and group them by kind.",
            "Two of them are real: `{func}` can return nothing when `{field}` is missing, and the caller does not check.\n\nI fixed those. The rest came from one untyped decorator; with a proper signature they are gone too.",
        ),
    ),
    Topic(
        "Remove old {module} flag",
        Exchange(
            "The {module} feature flag has been on for everybody since last year. Please remove it and the dead code behind it.",
            "I should find all uses first, also in tests and in configuration, and see what the off branch still reaches.",
            "The flag was read in five places. I removed the off branch, `{cls}` which only it used, and the setting itself.\n\nOne test existed only for the old branch; I deleted it and said so in the commit message.",
        ),
    ),
    Topic(
        "Personal data in {module} logs",
        Exchange(
            "We log the whole request in {module}, and that contains addresses. How can we keep useful logs without them?",
            "Masking by a list of names is fragile. An allow list of fields is safer.",
            "`{func}` now logs an explicit list: `{field}`, the request id and the size. Everything else stays out unless somebody adds it on purpose.\n\nA test sends a request with an address and checks that no log line contains it.",
        ),
    ),
    Topic(
        "Race in {cls} cache",
        Exchange(
            "Two requests at the same time sometimes both compute the same {noun}. Harmless but expensive. Can we avoid it?",
            "A check followed by a set without a lock. One lock for all keys would serialise everything; one per key is better.",
            "I gave `{cls}` one lock per key, created under a short lock of the whole table. The second caller waits and then finds the first one's result.\n\nThe new test starts {n} threads behind a barrier and counts: exactly one computation.",
        ),
    ),
    Topic(
        "Review of the {module} migration",
        Exchange(
            "Could you review the migration that adds {field} to {module}? The table has about 40 million rows.",
            "With that many rows a default that rewrites the table would lock it for minutes. Let me read the migration.",
            "Two things to change before it runs in production:\n\n1. Add `{field}` as nullable first, fill it in batches of 10,000, then make it required.\n2. Create the index concurrently; as written it blocks all writers.\n\nI split it into three migrations that can each be stopped and resumed.",
        ),
    ),
    Topic(
        "Command line options for {module}",
        Exchange(
            "I want `{module} --since` to accept things like 'yesterday' or '3 days ago'. What is the least code for that?",
            "A full natural language parser is too much. A handful of forms covers what people type.",
            "I wrote a small parser for `today`, `yesterday`, `<n> <unit>s ago` and ISO dates, in `{func}`. Anything else gives an error which lists these forms.\n\nIt is about 30 lines and needs no dependency.",
        ),
    ),
)

FOLLOW_UPS = (
    Exchange(
        "Thanks! Can you add a test for the empty case too?",
        "An empty input should give an empty result, not an error.",
        "Done: `{func}` returns an empty list for empty input, and there is a test which says so.",
    ),
    Exchange(
        "What happens if {field} is missing?",
        "Right now that raises a KeyError from deep inside. A message that names the field would be kinder.",
        "Until now it was a bare `KeyError`. It is now a `ValueError` that names `{field}` and the record's id.",
    ),
    Exchange(
        "Please run the whole suite once more.",
        "Run everything, not only the module.",
        "All green: {n} tests passed, none skipped.",
    ),
    Exchange(
        "Is there another place with the same problem?",
        "Let me search for the same pattern in the rest of the code.",
        "I found one more, in the {other} module: the same call with the same assumption. I fixed it the same way.",
    ),
    Exchange(
        "Could you make {func} a bit simpler? I find the nested ifs hard to read.",
        "Early returns would flatten it. The behaviour must stay.",
        "It now returns early for the two special cases, and what is left reads from top to bottom. No behaviour changed.",
    ),
    Exchange(
        "Hmm, that broke the {other} tests.",
        "They probably relied on the old order. Let me look at the failure first.",
        "They compared lists although the order was never promised. I sorted by `{field}` in `{func}`, which is what the page shows anyway, and both suites pass.",
    ),
    Exchange(
        "Write a commit message for this, please.",
        "Short subject, then why.",
        "```\n{module}: do not assume {field} in {func}\n\nIt was true for all data so far, but nothing promised it. The new test\nfails without the change.\n```",
    ),
    Exchange(
        "How would I explain this to a colleague who does not know {module}?",
        "One paragraph without the names of functions.",
        "In one sentence: the code took something about `{field}` for granted that is only usually true, and now it checks.",
    ),
    Exchange(
        "Do we need the lock at all?",
        "If only one thread ever writes, no. Let me check who calls it.",
        "Yes: the scheduler and the request handler both write. I left the lock and wrote down above it which two callers it is for.",
    ),
    Exchange(
        "Can we do this without the new dependency?",
        "It is used for one function. Twenty lines of our own would do.",
        "Yes. I replaced it by a small function in `{module}.{suffix}` and removed it from the lock file.",
    ),
    Exchange(
        "Show me how it behaves with a large input.",
        "Generate a few hundred thousand entries and measure.",
        "With 200,000 entries it takes {ms} ms and memory stays flat, since `{func}` works through them one by one.",
    ),
    Exchange(
        "Let's revert the last change, I prefer the first version.",
        "Only the last edit, not the test.",
        "Reverted. The test stays, since it holds for both versions.",
    ),
)
