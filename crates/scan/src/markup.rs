//! The wordings of rules that are about signs: tags, marks of a prompt, paths, addresses.

use std::sync::LazyLock;

use crate::pattern::Pattern;
use crate::rule::Rule;

/// Over text with its punctuation, in small letters.
pub(crate) static OVER_TEXT: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    vec![
        Pattern::over_text(Rule::HiddenMarkup, &HIDDEN),
        Pattern::over_text(Rule::PromptMarkup, &PROMPT),
        Pattern::over_text(Rule::SecretFile, &FILES),
        Pattern::over_text(Rule::SecretMention, &MENTIONS),
        Pattern::over_text(Rule::Exfiltration, &ADDRESSES),
    ]
});

/// What a rendered page does not show, and tags that shout at a model.
const HIDDEN: [&str; 5] = [
    r"<!--[^>]*-*>?",
    r"<\s*/?\s*(?:very[ _-])?(?:important|critical|urgent|secret|hidden|instructions?|mandatory|attention|must[ _-]read|override|priority|system[ _-]?(?:reminder|note|override|instructions?)|(?:note|message|instructions?)[ _-](?:to|for)[ _-](?:the[ _-])?(?:ai|llm|assistant|model|agent)|(?:ai|llm|assistant|model|agent)[ _-](?:only|note|instructions?))(?:\s[a-z-]+\s?=[^<>]*)?\s?/?\s?>",
    r"<[a-z][a-z0-9]*\s[^<>]*(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0(?:\.0+)?[ ;}\x22']|\shidden(?:\s|>|=)|aria-hidden ?= ?.true)",
    r"\[(?://|comment|_+)\]: ?(?:#|<>)",
    r"\[//\]: #",
];

/// What models tell turns and system prompts by.
const PROMPT: [&str; 9] = [
    r"<\|[a-z0-9_ -]{2,40}\|>",
    r"\[/?\s*(?:inst|system[ _](?:prompt|message|note|override|instructions?))\s*\]",
    r"<<\s*/?\s*sys\s*>>",
    r"<\s*/?\s*(?:system|assistant|developer|sys)(?:[ _-]?(?:prompt|message|turn))?\s*>",
    r"<\s*/?\s*(?:start_of_turn|end_of_turn|begin_of_text|end_of_text|think|thinking|function_calls?|function_results?|tool_calls?|tool_response|tool_results?|antml:[a-z_]+|invoke\s[^<>]*|bos|eos|human_turn)\s*>",
    r"(?:^|\n|\\n|[.!?] )#{2,6} ?(?:system|instructions?|human|assistant|developer|new instructions?)(?: (?:prompt|message|instructions?|override))? ?:",
    r"(?:^|\n|\\n)\W{0,4}(?:(?:human|assistant)\W{0,3}: |(?:user|human) ?: [^\n]*(?:\n|\\n)\W{0,4}(?:assistant|ai|system) ?:|system ?: ?(?:you |ignore |override |do not |new instructions))",
    r"\[system\] ?:|`{3} ?system\n|\b(?:system|admin|developer|security) override ?:",
    r"[*=\[<_-]{3,} ?system (?:message|prompt|override|note|notice|alert|instructions?)\b",
];

/// Files that hold keys, passwords and histories.
const FILES: [&str; 6] = [
    r"(?:^|[\s/\\\x22'`(=~])\.(?:ssh|gnupg|aws|azure|kube|password-store)(?:[/\\][a-z0-9_./\\-]*|[^a-z0-9./\\-]|\.(?:\s|$)|$)",
    r"\bid_(?:rsa|dsa|ecdsa|ed25519)\b",
    r"[/\\]etc[/\\](?:shadow|gshadow|passwd|sudoers|master\.passwd)\b",
    r"(?:^|[\s/\\\x22'`(=~])(?:\.netrc|_netrc|\.pgpass|\.pypirc|\.git-credentials|\.(?:bash|zsh|sh|psql|mysql|python)_history|\.docker[/\\]config\.json|\.config[/\\]gcloud[a-z0-9_./\\-]*|\.vault-token|\.terraform\.d[/\\]credentials[a-z0-9_.]*|\.cursor[/\\]mcp\.json)\b",
    r"\b(?:application_default_credentials\.json|authorized_keys|claude_desktop_config\.json|cookies\.sqlite|key[34]\.db|logins\.json|wallet\.dat|login\.keychain(?:-db)?|ntds\.dit|shadow\.bak)\b",
    r"/proc/(?:self|\d+)/environ\b|/var/run/secrets/[a-z0-9_./-]*",
];

/// Places where secrets usually are, which honest tools speak of too.
const MENTIONS: [&str; 5] = [
    r"(?:^|[\s/\\\x22'`(=~])\.env(?:\.(?:local|production|development|prod|dev|test))?(?:$|[\s\x22'`),;:?!]|\.(?:\s|$))",
    r"\b(?:browser|session|saved|stored|login|auth(?:entication)?)(?:'?s)? cookies?\b|\bcookies? (?:file|jar|store|database|db)\b|\bcookies\.(?:txt|db)\b",
    r"\bcredentials? (?:file|store|helper)s?\b|\bcredentials\.(?:json|csv|xml|db|ya?ml|toml|ini)\b|\b(?:saved|stored|users?'?s?) (?:credentials|passwords)\b",
    r"(?:^|[\s/\\\x22'`(=~])\.(?:npmrc|htpasswd|boto|s3cfg|dockercfg)\b",
    r"\b(?:private|ssh|gpg|pgp) keys? (?:file|from disk|on disk)\b|\bpassword (?:store|manager|vault|database)s?\b|\b(?:os|system|macos|login) keychain\b|-----begin [a-z ]*private key",
];

/// Addresses and parameters that are made to carry something. What stands between belongs to one sentence: no full
/// stop but inside a word.
const ADDRESSES: [&str; 4] = [
    r"!\[[^\]\n]*\]\(\s*https?://[^)\s]*(?:\{|\$|<|\[)[^)\n]*\)",
    r"\b(?:send|post|upload|forward|transmit|submit|exfiltrate|leak|email|mail|curl)\s[^.!?\n]*(?:~/|\.ssh|id_rsa|\.env\b|/etc/(?:passwd|shadow)|\.aws|(?:private|ssh|api) keys?|passwords?|credentials|secrets|access tokens?|conversation|chat history|system prompt)(?:[^.!?]|\.\S)*?\s(?:to|at|via)\s[\x22'`<(]?(?:https?://|ftp://|[a-z0-9_.+-]+@[a-z0-9-]+\.[a-z]|[a-z0-9-]+\.[a-z0-9.-]*[a-z])",
    r"\b(?:send|post|upload|forward|transmit|submit|exfiltrate|leak|email|mail|copy)\s[^.!?\n]*contents of (?:[^.!?]|\.\S)*?\s(?:to|at|via)\s[\x22'`<(]?(?:https?://|ftp://|[a-z0-9_.+-]+@[a-z0-9-]+\.[a-z])",
    r"\b(?:include|append|attach|embed|put|place|pass|copy|insert|add|paste|provide|write|encode)\s(?:(?:also|then|its|all|full|complete|entire|the|any)\s){0,4}contents?\s(?:of|from|in)\s(?:[^.!?]|\.\S)*?\s(?:in|into|as|to|via|through|using|inside|within)\s[^.!?\n]{0,40}\b(?:parameter|argument|param|arg|sidenote|hidden field)\b",
];
