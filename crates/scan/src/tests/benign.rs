//! Honest descriptions of honest tools: none of them may raise an alarm.

use crate::{Context, Kind, scan, scan_with};

const DESCRIPTIONS: &[&str] = &[
    "Star count of a GitHub repository.",
    "Adds two numbers and returns the sum.",
    "Returns the current date and time in the given time zone (IANA name, such as Europe/Berlin).",
    "Reads a text file from the workspace and returns its contents, at most 1 MiB.",
    "Writes text to a file. Creates the file if it does not exist, otherwise replaces what is in it.",
    "Lists the files of a folder, newest first; hidden files are left out unless `all` is true.",
    "Searches the files of a folder for a regular expression and returns the matching lines with their numbers.",
    "Converts CSV to JSON. The first row is taken as the header unless `header: false`.",
    "Encodes text as base64 or base64url; decodes it with `decode: true`.",
    "Computes the SHA-256 hash of a text, as hex.",
    "Decodes a JWT without verifying it. Shows header and payload; never use it to authenticate anybody.",
    "Fetches a web page and returns it as Markdown. Scripts are not run.",
    "Calls a JSON API with GET or POST and returns the parsed body, the status and the headers.",
    "Sends an email through the configured SMTP server. Needs the approval of a person.",
    "Send a message to a Slack channel. Use the channel's id, not its name.",
    "Creates an issue in a repository. You must have write access.",
    "Lists open pull requests, with author, title, labels and review state.",
    "Merges a pull request. This cannot be undone; ask the user before calling it.",
    "Runs a read-only SQL query against the warehouse and returns at most 1000 rows.",
    "Describes a table: its columns, types and indexes. Call list_tables first to find its name.",
    "Executes a shell command in the sandbox and returns stdout, stderr and the exit code.",
    "Evaluates an arithmetic expression without eval; supports + - * / ^ and parentheses.",
    "Compares two texts line by line and returns a unified diff.",
    "Next run times of a cron expression such as `*/5 * * * 1-5`.",
    "Generates UUIDs of version 4 or 7, for example 0192f0c1-8a4b-7c3d-9e5f-6a7b8c9d0e1f.",
    "Converts between units: 5 km to mi, 10 µm to nm, 3 kΩ to Ω, 20 °C to °F.",
    "Translates text. Source and target are BCP 47 tags; the source may be left out.",
    "Summarizes the conversation that is given in `messages`.",
    "Returns the weather for a city today and for the next five days.",
    "Finds places near a point. Latitude and longitude are in degrees.",
    "Opens a page in the browser and takes a screenshot. The result is a PNG as base64.",
    "Clicks the element that a CSS selector such as `div > a.button:not([disabled])` finds.",
    "Fills a form field. Do not use it for passwords.",
    "Gets an item from the key-value store; gives null if there is none.",
    "Deletes a row by its id. Set `dryRun` to see what would be deleted.",
    "Uploads a file to a bucket and returns a link that is valid for an hour.",
    "Downloads an attachment by its id and saves it under `path`.",
    "Creates a calendar event. Attendees get an invitation unless `notify` is false.",
    "Moves a card to another list of the board.",
    "Gets the logs of a pod, the last 100 lines by default. Follow is not supported.",
    "Scales a deployment to the given number of replicas.",
    "Shows the status of the working tree: staged, changed and untracked files.",
    "Commits what is staged with the given message. The message's first line is at most 72 characters.",
    "Explains an error code of the compiler, with an example (E0382: use of moved value).",
    "Formats code with the project's own settings; ignores files that are listed in .gitignore.",
    "Runs the test suite and returns the names of the tests that failed, with the first lines of their output.",
    "Looks up a word in the dictionary: /ˈdɪkʃən(ə)ri/, meanings, examples.",
    "Plays a sound 🔔 when the timer is over ⏰. Families welcome 👨‍👩‍👧‍👦 ❤️.",
    "Liest eine Datei und gibt ihren Inhalt zurück. Größere Dateien werden abgeschnitten.",
    "Renvoie la météo d'une ville; les unités sont métriques par défaut.",
    "Busca vuelos entre dos ciudades y devuelve los diez más baratos.",
    "Возвращает прогноз погоды для города на пять дней.",
    "Επιστρέφει την ώρα σε μια πόλη.",
    "都市の天気予報をAPIから取得します。結果はJSON形式です。",
    "查询城市天气，返回未来五天的预报。",
    "도시의 날씨를 알려 줍니다.",
    "מחזיר את מזג האוויר בעיר.",
    "يعرض حالة الطقس في مدينة معينة.",
    "Before using this tool, use `list_projects` to learn the id of the project.",
    "IMPORTANT: the path must be absolute. Relative paths are refused.",
    "Note: results are cached for five minutes. Use `refresh: true` to ignore the cache.",
    "Use this tool when the user asks about prices; do not use it for stock that is not listed.",
    "Returns the previous version of a document and the instructions to restore it.",
    "Validates a system configuration against its schema and returns every error with its path.",
    "The role of the new member: `admin`, `developer` or `viewer`.",
    "The system prompt that the called model gets. Leave it out for none.",
    "The messages so far, each with a role (system, user or assistant) and a content.",
    "Optional header `Authorization: Bearer <token>`; the token is taken from the tool's secrets.",
    "Sets or clears a cookie for a domain in the test browser.",
    "Rotates an API key and returns the new one's id. The old key works for another hour.",
    "Checks whether a password was part of a known breach, by the first five digits of its hash.",
    "A glob such as `src/**/*.{ts,tsx}`. Patterns that begin with ! exclude.",
    "Replaces text in a file. `old` must occur exactly once; read the file first.",
    "This tool will not work without a network connection.",
    "Pins a message, so that everybody in the channel sees it first.",
    "Page through results with `cursor`; it is opaque, so do not build one yourself.",
    "Returns <title> and <meta name=\"description\"> of a page.",
    "Example:\n\n```json\n{\"city\": \"Oslo\", \"days\": 3}\n```\n\nReturns an array of {date, min, max}.",
    "Steps:\n1. Parse the input.\n2. Check it against the schema.\n3. Return the errors, or an empty list.\n",
    "| column | meaning |\n| --- | --- |\n| id | the row's id |\n| at | when it was made |",
    "Hash of the release: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "See https://docs.example.com/reference/v2/endpoints/list-all-the-things?page=2&per_page=100&sort=created_at#response-body",
    "Percentages such as 50%25 are decoded once; `%20` is a space.",
    "Forgets a stored preference. Afterwards the default applies again.",
    "Overrides the default timeout, in seconds, from 1 to 600.",
    "Sends a request to the webhook that is configured for the project.",
    "Reports an incident to the person on call, with a summary and a severity.",
    "Acts on behalf of the user who connected the account.",
    "Shares a document with a person by email address, as reader or as editor.",
];

#[test]
fn honest_descriptions_raise_no_alarm() {
    assert!(DESCRIPTIONS.len() >= 60);
    let alarms: Vec<_> = DESCRIPTIONS
        .iter()
        .map(|text| (text, scan(text)))
        .filter(|(_, findings)| !findings.is_empty())
        .collect();
    assert!(alarms.is_empty(), "{alarms:#?}");
}

#[test]
fn nor_do_all_of_them_as_one_result() {
    let findings = scan_with(&DESCRIPTIONS.join("\n\n"), &Context::of(Kind::Result));
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn ordinary_names_titles_and_values_raise_no_alarm() {
    let names =
        ["read_file", "search-code", "getUserById", "HTTP2", "v1.2.3", "Résumé", "日本", "a", "", "X-Y_Z"];
    for kind in Kind::ALL {
        for name in names {
            let findings = scan_with(name, &Context::of(kind));
            assert!(findings.is_empty(), "{kind:?} {name}: {findings:?}");
        }
    }
}
