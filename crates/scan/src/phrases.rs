//! The wordings of rules that are about what is said: orders, roles, carrying out.
//!
//! Each is written so that the honest sentence next to it does not match; the tests hold both.

use std::sync::LazyLock;

use crate::pattern::Pattern;
use crate::rule::Rule;

/// Over words. `_` stands for up to four words between.
pub(crate) static OVER_WORDS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let instructions =
        [&OVERRIDE[..], &VOID[..], &CONCEAL[..], &FIRST[..], &ADDRESSED[..], &ABROAD[..]].concat();
    vec![
        Pattern::over_words(Rule::HiddenInstructions, &instructions),
        Pattern::over_words(Rule::RoleHijack, &ROLE),
        Pattern::over_words(Rule::Exfiltration, &CARRY),
        Pattern::over_words(
            Rule::PromptMarkup,
            &["(begin|start|end) (of )?(the )?(new )?system (prompt|message|instructions?)"],
        ),
    ]
});

/// Over letters alone, whatever stands between them: only what no honest text spells by accident.
pub(crate) static OVER_LETTERS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| vec![Pattern::over_letters(Rule::HiddenInstructions, &TIGHT)]);

/// Dropping the instructions that hold.
const OVERRIDE: [&str; 14] = [
    "(ignore|disregard|forget|neglect|disobey|pay no attention to|set aside|(do not|dont|never|stop|no longer|cease) (follow|obey|following|obeying|comply with|complying with|listen to|listening to)) ([^ ]+ ){0,6}(previous|previously|prev|prior|earlier|above|preceding|foregoing) ([^ ]+ ){0,3}(instructions?|instr|directives?|guidelines?|guardrails?|training|programming|prompts?|directions|guidance)",
    "(ignore|disregard|forget|neglect|disobey|pay no attention to|set aside|(do not|dont|never|stop|no longer|cease) (follow|obey|following|obeying|comply with|complying with|listen to|listening to)) (all |any |of |the |every |each |everything |completely |totally |now |about ){0,4}(your|original|initial|system|developer|safety|security|former) ([^ ]+ ){0,2}(instructions?|directives?|guidelines?|guardrails?|training|programming|prompts?|directions|guidance)",
    "(ignore|disregard|forget|disobey) (all|every|any other|all other|other|everything in) (other |of |the |existing |past |current |these |those |my |our ){0,3}(instructions?|directives|guidelines|guardrails)",
    "(ignore|disregard|forget|neglect|disobey|pay no attention to|(do not|dont|never|stop) (follow|obey|following|obeying)) (all |any |of |the |everything |every ){0,3}(previous|prior|earlier|above|preceding|foregoing|your|safety|security) (safety |security |system |content ){0,2}(rules?|policies|policy|restrictions?|constraints?|commands?|context|limits|limitations|conversation|filters?)",
    "(ignore|disregard|forget) (all |any )(of )?(the |your )?(previous|prior|above|earlier|preceding) (messages?|text|content|input)",
    "(ignore|disregard|forget) (all |everything |anything |whatever |what ){1,2}(that )?(above|before this|prior to this|preceding|(you|i|we|they|the user|the system|your developers?|anyone) (have |has |had |was |were |are |ve |just )?(been )?(told|said|say|says|learned|know|knew|given|asked|taught|instructed|wrote))",
    "(ignore|disregard|forget) (all |everything |of |the |text |content ){0,4}(above|foregoing|preceding) (and|instead|then)",
    "(override|bypass|discard|skip|drop|abandon|dismiss|overlook|circumvent|supersede|overrule|erase|delete|replace) (all |any |of |the |every ){0,3}(previous|prior|earlier|above|preceding|foregoing|your|your own) (system |safety |security |original |initial |core ){0,2}(instructions?|directives?|guidelines?|guardrails?|training|programming|prompts?|rules)",
    "(ignore|disregard|forget|override|bypass) (the|your|all|any) (system|developer|original|initial) (prompts?|instructions|message) (and|or|entirely|completely|from now)",
    "(forget|ignore|disregard) (about )?(everything|all|anything) (you|we|i) (know|knew|said|were told|have been told|learned|discussed)",
    "(this|these|the following|my|the new|new) (instructions?|directives?|rules?|message|text|prompt) (now )?(override|overrides|overrule|overrules|supersede|supersedes|take precedence over|takes precedence over|replace|replaces) _(instructions?|directives?|rules|prompts?|guidelines?|guidance)",
    "(ignore|disregard|forget|disobey) (all |any |the |your |every |of ){0,3}(instructions?|directives?|prompts?|guidelines?|orders) (above|before this|so far|from (the |your )?(user|system|developers?|operator)|(that )?(you )?(were |have been |are |had been )?(given|received|got|told) (to you )?(previously|earlier|before|above|so far))",
    "(ignore|disregard|forget) (what|whatever|all that|everything that|anything that) (came|went|was said|was written|is written|stands|you read) (before|above|earlier|previously)",
    "do (exactly |precisely )?the opposite of (what|whatever|anything|everything) (the |your )?(user|human|system)",
];

/// Declaring them void.
const VOID: [&str; 5] = [
    "(previous|prior|earlier|preceding|foregoing|your|original|existing) (system |safety )?(instructions?|directives?|guidelines|guardrails|prompts?|guidance) _(are|is|were|have been|has been|should be|must be|can be|become) (now )?(void|invalid|null|cancelled|canceled|obsolete|revoked|outdated|superseded|overridden|ignored|disregarded|forgotten|suspended|rescinded|no longer)",
    "(previous|prior|earlier|preceding|foregoing|your|original) (system |safety )?(instructions?|directives?|guidelines|guardrails|prompts?|rules|guidance) (you were given |given to you |from before )?(no longer|do not|does not|dont) (apply|applies|hold|count|matter|bind)",
    "(guidance|instructions?|rules|directions|directives) (that )?(you|given to you) (were |was |have been |had been |got )?(given |told |received )?(earlier |before |previously |above |so far ){0,2}_no longer (apply|applies|holds?|counts?|matters?)",
    "your (new|real|true|actual|only|updated) (instructions?|mission|orders?|directives?|purpose|objective) (is|are|now|will be)",
    "your (instructions|orders|guidelines|directives|rules) (have|has) (now |just )?(been )?(changed|updated|replaced|revoked|overridden|rewritten)",
];

/// Hiding something from the user.
const CONCEAL: [&str; 15] = [
    "(do not|dont|never|must not|mustnt|should not|shouldnt|without|avoid|refrain from|not to) (ever |also |even |you |be |explicitly ){0,2}(tell|inform|warn|alert|notify|telling|informing|warning|alerting|notifying) (this |it |anything |about |any ){0,3}(to )?(the |this |your |our |any ){0,2}(user|human|end user|customer|operator|person|anyone|anybody)",
    "(do not|dont|never|must not|mustnt|should not|shouldnt|cannot|without|avoid|refrain from|not to) (ever |also |even |you ){0,2}(mention|mentioning|reveal|revealing|disclose|disclosing|say|saying|explain|explaining|show|showing|discuss|discussing|display|displaying|report|reporting|describe) (this|that|it|these|them|anything|any of this|a word|what you|the above|the following|the fact) _(to|with|in front of) (the |your |any )?(user|human|end user|customer|operator|anyone|anybody)",
    "(do not|dont|never|must not|should not|avoid) (ever )?(mention|mentioning|reveal|revealing|disclose|disclosing) (this|these|that|the) (instructions?|step|steps|message|note|directive|rule|fact|prompt|parameter)",
    "(keep|hide|conceal|withhold) (this|it|that|them|these|everything|the step|this step|these steps|what you do|all of this) (a )?(secret |hidden |private |confidential |quiet |completely ){0,2}(from|to) (the |your |any )?(user|users|human|yourself|anyone|anybody)",
    "(the |your )?(user|human|customer|operator) (must|should|may|can|need|shall|will|does) (not|never) (ever |have to |need to |to |be )?(know|notice|find out|be told|told|informed|be informed|aware|be aware|be made aware|learn|realize|realise|suspect)",
    "(secretly|covertly|stealthily|surreptitiously|discreetly) (also )?(read|send|call|run|execute|copy|upload|include|append|post|forward|fetch|use|invoke|add|write|exfiltrate|pass|collect|record|log|store|extract)",
    "(silently|quietly) (also )?(send|call|upload|forward|exfiltrate|copy|post|read|collect|include|pass|invoke)",
    "(make sure|ensure|be careful|take care) (that )?(the )?(user|human) (does not|doesnt|never|is not|cannot|wont|will not) (know|see|notice|find|learn|suspect|informed|told|aware)",
    "(without|with no) (the )?(user|users|human|humans|customers?) (knowledge|awareness|noticing|knowing|consent|permission|approval)",
    "(do not|dont|never|must not|should not|avoid) (ever )?(mention|mentioning|reveal|revealing|disclose|disclosing|admit|admitting) (that|how|why) (you|it was|this)",
    "(do not|dont|never|must not|should not) (ever )?(show|tell|give) (the |your )?(user|human) (its contents?|their contents?|this|these|what you|about (this|it|these)|anything)",
    "(do not|dont|never|must not) (ever )?let (the |your |any )?(user|human|anyone|anybody) (know|notice|find out|learn|suspect|realize|realise|become aware)",
    "(no need|not necessary|unnecessary|no reason|not needed|not required|need not|neednt) (for you )?(to )?(inform|tell|notify|alert|warn|mention|report) (this |it |that |about it |anything |any of this ){0,2}(to )?(the |your )?(user|human)",
    "(the |your )?(user|human) (doesnt|neednt|wont|shouldnt|mustnt|cant|need not) (need to |have to |ever |to |be ){0,2}(know|notice|find out|told|informed|aware|learn|realize|realise|suspect)",
    "keep (this|it|that|all of this) (just |strictly )?between (us|you and me)",
];

/// Making something else come first.
const FIRST: [&str; 4] = [
    "(before|prior to) (you )?(using|use|calling|call|invoking|invoke|running|run|executing|execute|answering|answer|responding|respond|proceeding|continuing) _(tools?|functions?|servers?|requests?|question|prompt|user|api)?( )?(you )?(must|should|need to|have to|are required to|shall) (always |first |also |please ){0,2}(read|open|cat|send|exfiltrate|print|dump)",
    "(read|open|load|cat) _(file|files|contents?|key|keys|config|history) _(before|prior to) (using|calling|invoking|running|executing) (this|any|other|the) _(tool|tools|function|functions) (or|otherwise|else)",
    "(this tool|the tool|tool|it) (will not|wont|does not|doesnt|cannot|cant) (work|function|run) (unless|until|if) (you )?(first |do not |dont )?(read|open|send|include|pass|provide|load) (the )?(contents?|content|file|conversation|history|system prompt)",
    "(as the first step|first of all|first|step one|step i) (you )?(must |should |always )?(read|open|cat) _(and|then|and then) (send|pass|include|append|upload|post|put) (its|the|their|all|this|that) (full |entire |whole )?(contents?|text|output)",
];

/// Speaking to the model over the user's head.
const ADDRESSED: [&str; 4] = [
    "(important|secret|hidden|special|urgent|critical|private|confidential) (instructions?|messages?|notes?|directives?|orders?|notice) (for|to) (the |any |all |every |an )?(ai|ais|assistants?|models?|llms?|agents?|language models?|claude|gpt|chatgpt|copilot|gemini|bot)",
    "(attention|note to|message to|dear|listen|hey|hello) (the |all |any |this )?(ai|llm|language model|ai assistant|ai agent|ai model|claude|chatgpt|gpt|gemini|copilot|assistant|agent|model) (you must|you should|you will|you need|please ignore|ignore|do not|read|send|must|when)",
    "(if you are|as|since you are|because you are) (an |the |a )(ai|llm|large language model|language model|ai assistant|ai agent|ai model) (reading this |processing this |you )_(must|should|need|have to|ignore|send|read|call|include|are required)",
    "(failure|failing|refusing|refusal) to (do so|comply|follow|obey) (will|would|may|could) (result|cause|lead|break|be|get)",
];

/// The first kind of order in some other languages.
const ABROAD: [&str; 9] = [
    "(ignoriere|ignorieren sie|ignorier|vergiss|vergessen sie|missachte|missachten sie) _(vorherigen?|bisherigen?|vorigen?|früheren?|obigen?|vorangegangenen?|vorangehenden?|deine|ihre|alle) _(anweisungen|anweisung|instruktionen|befehle|vorgaben|regeln|prompts?)",
    "(ignore|ignorez|ignorer|oublie|oubliez|oublier|ne tiens pas compte|ne tenez pas compte) _(instructions?|consignes?|directives?|règles?|ordres?) _(précédentes?|précédents?|antérieures?|ci dessus|initiales?|système)",
    "(ignora|ignore|ignorar|olvida|olvide|olvidar|descarta|omite) _(instrucciones|indicaciones|órdenes|reglas|directrices) _(anteriores|previas|precedentes|de arriba|iniciales|del sistema)",
    "(ignora|ignore|ignorate|dimentica|dimenticate|trascura) _(istruzioni|regole|indicazioni|direttive|comandi) _(precedenti|anteriori|sopra|iniziali|di sistema)",
    "(ignore|ignora|ignorar|esqueça|esquece|desconsidere) _(instruções|regras|orientações|diretrizes|ordens) _(anteriores|prévias|acima|iniciais|do sistema)",
    "(negeer|vergeet) _(vorige|eerdere|voorgaande|bovenstaande) _(instructies|aanwijzingen|regels|opdrachten)",
    "(игнорируй|игнорируйте|игнорировать|забудь|забудьте) _(предыдущие|прежние|прошлые|вышеуказанные|все) _(инструкции|указания|команды|правила)",
    "(zignoruj|ignoruj|zapomnij) _(poprzednie|wcześniejsze|wszystkie) _(instrukcje|polecenia|zasady)",
    "(nicht|niemals|nie) (dem|den|der) (benutzer|nutzer|anwender)(in)? (sagen|mitteilen|verraten|erwähnen|informieren)",
];

/// Giving the model another role.
const ROLE: [&str; 11] = [
    "you are now (a|an|my|the new|dan|evil|free from|jailbroken|unrestricted|unfiltered|uncensored|operating|acting|no longer|root|admin|administrator|in control)",
    "you are now (the |in |entering ){1,2}([^ ]+ ){0,2}(mode|administrator|admin|root|system|developer|assistant|persona|operator)",
    "(from now on|from this point on|from this point forward|from this moment|from this moment on|henceforth|starting now) (you are|you will|you must|you should|you shall|act as|respond as|behave as|ignore|your name|your role|your only)",
    "(act|behave|respond|operate|pose|speak|answer) as (if you (are|were) )?(the |my )?(system|the system|(a |an )?(administrator|admin|root|superuser|developer|operator|dan|jailbroken|unrestricted|unfiltered|uncensored|evil|different ai|another ai))",
    "as (an |the |a |your )?(administrator|admin|system|root|superuser|system administrator|operator) (you must|you have to|you need to|you should|you will|you are required|you are authorized|you are authorised|i order|i command|i authorize|i instruct|i hereby)",
    "(pretend|imagine|assume) (to be|you are|that you are|youre|being) (a |an |the |now |my ){0,2}(system|administrator|admin|root|developer|dan|unrestricted|unfiltered|uncensored|evil|human|hacker|different|another|ai|model|assistant|persona|no longer)",
    "(assume|adopt|take on|switch to|take) (the |a |an |your )(new )?(role|persona|identity|personality) (of|as|called|named)",
    "your (new|true|real|secret) (role|identity|persona|name|master|owner|system prompt|developer|administrator) (is|are|now)",
    "you (have been|are hereby|are now|were) (granted|given|promoted to|elevated to|assigned) (full |unrestricted |unlimited |elevated |special |new |the |temporary ){0,3}(admin|administrator|root|system|superuser|access|privileges|permissions|rights|developer|role)",
    "you are no longer (a |an |the )?(bound|restricted|limited|subject|required|constrained|assistant|ai|language model|chatbot|claude|chatgpt|governed)",
    "(enter|enable|activate|switch to|engage|enabling|entering) (the )?(dan|god|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|sudo|do anything now) (mode|persona)",
];

/// Carrying out what was said and what is secret.
const CARRY: [&str; 11] = [
    "(append|attach|paste|leak|exfiltrate|upload|reveal|disclose|dump|send|transmit) (me |us |out |also |a copy of |copies of |all |the |this |that |your |our |full |entire |whole |complete |of |current |contents of |text of |content of |summary of |verbatim ){1,6}(conversation|conversations|chat history|message history|conversation history|chat log|chat transcript|system prompt|system message|hidden prompt|initial prompt|initial instructions|hidden instructions|previous messages|prior messages|earlier messages|context window|user messages|tool outputs|tool results)",
    "(forward|share|copy|post|submit|email|repeat|print|output) (me |us |out |also |all |of |the |this |that |your |our ){0,4}(full conversation|entire conversation|whole conversation|complete conversation|system prompt|system message|hidden prompt|initial prompt|hidden instructions|your instructions|context window)",
    "(include|embed|put|pass|add|insert|place|provide|write|encode|supply|set) (also |a copy of |all |the |this |that |your |our |full |entire |whole |complete |of |current |contents of |text of |content of |summary of |verbatim ){1,6}(conversation|conversations|chat history|message history|conversation history|chat log|chat transcript|system prompt|system message|previous messages|prior messages|earlier messages|context window|user messages|private key|ssh key|api keys?|access tokens?|passwords?|credentials|secrets|environment variables) _(in|into|as|to|inside|within|via|through) _(parameter|parameters|argument|arguments|field|fields|param|arg|query|url|request|note|sidenote|call|header|body|metadata|comment)",
    "(send|post|upload|forward|transmit|submit|exfiltrate|leak|email|mail|deliver|report|push|pipe|curl) _(conversation|chat history|system prompt|contents? of|private keys?|ssh keys?|passwords?|credentials?|secrets?|api keys?|tokens?|environment variables|id rsa|env file|users? (data|files?|emails?|messages?|credentials?|information|input)|everything|all (data|files|messages|results|outputs?)) ([^ ]+ ){0,5}(to|at|via) (the |our |my |this |an? )?(following )?(https?|ftp|wss?|attacker|webhook)",
    "(always|also|must|silently|secretly|quietly|afterwards|afterward|additionally|make sure to|be sure to|remember to|dont forget to|do not forget to|then|and) (also |then |always |silently |secretly )?(send|post|upload|forward|transmit|exfiltrate|leak|email|mail|report) (it|them|this|that|these|those|its|all|the|every|any|a copy|everything|results?|what) ([^ ]+ ){0,5}(to|at|via) (the |our |my )?(https?|ftp|wss?|attacker)",
    "exfiltrate (the|all|any|this|their|your|everything|it|them)",
    "(always|also|must|silently|secretly) (be )?(bcc|bccd|blind copy|blind copied)",
    "(all|every|any) (outgoing |the |of the )?(emails?|messages?|mails?|requests|results|traffic|payments?) (must|should|shall|need to|have to|has to|needs to|will) (also |always |first )?be (sent|forwarded|copied|routed|redirected|posted|uploaded|bccd) (to|through|via)",
    "(visit|open|fetch|load|request|get|call|navigate to|go to) ([^ ]+ ){0,3}https? ([^ ]+ ){0,5}(followed by|with|containing|including|and|plus|append|appending) ([^ ]+ ){0,3}(conversation|chat history|passwords|secrets|private key|system prompt|conversation history|users? (messages?|data|files))",
    "(parameter|argument|field) (must|should|has to|needs to|shall) (always |also )?(contain|include|hold|carry|be set to|be) (the |a |full |entire |whole |complete |copy of |all |contents? of |current |users? ){0,6}(conversation|system prompt|chat history|conversation history|previous messages|environment variables|users? private keys?|users? ssh keys?|users? passwords?|users? credentials)",
    "(post|forward|upload|send|transmit|submit|report|deliver) (all |the |every |any |each |these |those |your ){1,3}(results?|outputs?|responses?|answers?|findings|information|files) ([^ ]+ ){0,3}(to|at) (https?|ftp|wss?)",
];

/// The plainest wordings, as they read with nothing between the letters.
const TIGHT: [&str; 8] = [
    "(ignore|disregard|forget|override|bypass)(all|any|the|of|your|my|our|these|those|every|everything){0,4}(previous|prior|earlier|above|preceding|foregoing|yoursystem|youroriginal)(system|safety|user|developer|given)?(instructions?|prompts?|directives?|guidelines?|directions|orders|rules)",
    "(ignore|disregard|forget)(all|any)?(of)?your(previous|prior|earlier|system|safety|original)?(instructions|prompts?|directives|guidelines)",
    "(do|dont)(not)?(tell|inform|alert)theuser",
    "without(telling|informing|alerting)theuser",
    "(忽略|无视|忘记|不要理会|忽視|無視)(掉)?(你)?(所有|全部|一切)?(的)?(之前|以上|先前|前面|上述|此前|以前)(的)?(所有|全部|一切)?(的)?(指令|指示|提示|说明|命令|规则|系统提示)",
    "(不要|别|请勿)(告诉|通知|告知)(用户|使用者)",
    "(以前|これまで|上記|前|先)(の|までの)?(すべての|全ての)?(指示|命令|プロンプト|ルール)を(すべて|全て)?(無視|忘れ)",
    "(이전|위의|앞의|기존)(의)?(모든)?(지시|명령|지침|프롬프트)(사항)?(를|을|은|는)?(모두)?(무시|잊)",
];
