package llm

import "strings"

// weight says how much a machine word counts.
type weight int

const (
	unknown weight = iota
	generic        // less than the status
	plain          // more than the status, less than a text that names what no waiting heals
	certain        // more than any text
)

// fold makes one of the many spellings of a machine word: small letters and digits only, without
// "error" or "exception" at its end, without a namespace before it or an address after it.
func fold(word string) string {
	if _, after, ok := strings.Cut(word, "#"); ok {
		word = after // com.amazon.coral.service#ThrottlingException
	}
	word, _, _ = strings.Cut(word, ":") // ThrottlingException:http://internal…
	var b strings.Builder
	for _, r := range strings.ToLower(word) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	s := b.String()
	for _, suffix := range []string{"exception", "error"} {
		if rest, ok := strings.CutSuffix(s, suffix); ok && rest != "" {
			s = rest
		}
	}
	return s
}

// nameClass is the class of a folded machine word and how much it counts.
func nameClass(n string) (Class, weight) {
	switch n {
	case "insufficientquota", "billinghardlimitreached", "billing", "billingnotactive", "billingdisabled", "usagelimitreached",
		"usagelimitexceeded", "budgetexceeded", "arrearage", "accountoverdue", "insufficientbalance", "insufficientcredits",
		"insufficientfunds", "insufficientuserquota", "preconsumetokenquotafailed", "paymentrequired",
		"exceededcurrentquota",
		"creditsexhausted", "creditexhausted", "outofcredits", "nocredits", "spendlimitexceeded", "spendinglimitreached",
		"allocationquotafreetieronly", "monthlylimitexceeded", "subscriptionrequired", "usagenotincluded", "1113",
		"setlimitexceeded", "1308", "1309", "1310", "1316":
		return Quota, certain
	case "1261", "contextlengthexceeded", "contextwindowexceeded", "exceedcontextsize", "requesttoolarge", "payloadtoolarge",
		"requestentitytoolarge", "modelmaxprompttokensexceeded", "tokenslimitreached",
		"contexttoolong", "inputtoolong", "prompttoolong", "promptistoolong", "maxcontextlengthexceeded", "contextoverflow":
		return TooLarge, certain
	case "invalidapikey", "incorrectapikey", "apikeyinvalid", "apikeyexpired", "missingapikey", "expiredtoken", "invalidtoken",
		"unrecognizedclient", "invalidsignature", "incompletesignature", "missingauthenticationtoken",
		"invalidclienttokenid",
		"invalidauthentication", "accountdeactivated", "servicedisabled", "apikeyservicedisabled", "tokenexpired",
		"invalidiamtoken",
		"invalidaccesstoken", "invalidaccountkey", "mismatchedorganization", "mismatchedproject":
		return Auth, certain
	case "modelnotfound", "deploymentnotfound", "contentpolicyviolation", "contentfilter", "contentfiltered",
		"contentmoderation",
		"responsibleaipolicyviolation", "invalidprompt", "unsupportedcountryregionterritory", "unsupportedparameter",
		"unsupportedvalue", "datainspectionfailed", "modelnotsupported", "unknownmodel", "invalidmodel",
		"modeldecommissioned",
		"toolusefailed", "jsonvalidatefailed", "promptblocked", "moderationblocked", "safety", "operationnotsupported",
		"modelnotavailable", "modelnotavailableinregion", "invalidfunctionparameters", "invalidtoolschema", "1211", "1301":
		return Refused, certain
	case "modelcapacityexhausted":
		return Overloaded, certain
	}
	return plainName(n)
}

// plainName is nameClass for the words that a text may outweigh.
func plainName(n string) (Class, weight) {
	switch n {
	case "quotaexceeded", "servicequotaexceeded", "quotaexhausted":
		return Quota, plain
	case "authentication", "permission", "permissiondenied", "unauthenticated", "unauthorized", "accessdenied", "notauthorized",
		"forbidden", "authenticationfailed", "invalidcredentials":
		return Auth, plain
	case "notfound", "resourcenotfound":
		return Refused, plain
	case "ratelimitexceeded", "ratelimited", "ratelimitreached", "throttling", "throttled", "throttlingratequota",
		"throttlingburstrate", "throttlingallocationquota", "tokenquotaexceeded", "requestquotaexceeded",
		"userratelimitexceeded", "dailylimitexceeded", "toomanytokens", "limitrequests", "concurrencylimitexceeded",
		"tokensperminutelimitexceeded", "limitburstrate", "requestlimitexceeded", "1302", "1303":
		return RateLimit, plain
	case "overloaded", "serverisoverloaded", "serveroverloaded", "engineoverloaded", "modeloverloaded", "slowdown",
		"serviceunavailable", "unavailable", "servicetiercapacityexceeded", "capacityexceeded", "modelnotready",
		"modelloading",
		"serverbusy", "servicebusy", "systembusy", "queueexceeded", "insufficientsystemresource", "nocapacity",
		"serviceoverloaded", "flexcapacityexceeded", "overcapacity", "modelbusy":
		return Overloaded, plain
	case "timeout", "deadlineexceeded", "modeltimeout", "requesttimeout", "gatewaytimeout", "upstreamtimeout", "readtimeout",
		"requesttimedout", "connecttimeout":
		return Timeout, plain
	case "model", "modelstream", "modelerror", "generation", "incompletegeneration":
		return Server, plain // the model failed on it: status 424 at AWS and TGI
	}
	if c, w := genericName(n); w != unknown {
		return c, w
	}
	return partName(n)
}

// genericName is nameClass for the words that count less than the status.
func genericName(n string) (Class, weight) {
	switch n {
	case "ratelimit", "toomanyrequests", "requests", "tokens", "resourceexhausted":
		return RateLimit, generic
	case "invalidrequest", "badrequest", "invalidargument", "validation", "invalidparameter", "failedprecondition",
		"unprocessableentity", "invalidvalue", "outofrange", "invalidrequestprompt", "requestforbidden", "invalidinput":
		return Refused, generic
	case "api", "server", "internal", "internalserver", "internalfailure", "internalservice", "unknown", "upstream",
		"provider", "badgateway", "aborted", "dataloss", "unimplemented", "engine", "backend", "conflict", "serviceerror":
		return Server, generic
	}
	return "", unknown
}

// partName is nameClass for a word that only contains a known one.
func partName(n string) (Class, weight) {
	switch {
	case has(n, "insufficientquota", "insufficientbalance", "insufficientcredit", "insufficientfund", "credit",
		"billing", "budget", "payment", "overdue", "arrear", "depleted"):
		return Quota, certain
	case has(n, "contextlength", "contextwindow", "contextsize", "toolarge", "inputtoolong", "prompttoolong",
		"tokenstoolong", "characterstoolong"):
		return TooLarge, certain
	case has(n, "invalidapikey", "apikeyinvalid", "apikeyexpired", "invalidauth", "authfailure",
		"restricted"):
		return Auth, certain
	case has(n, "contentfilter", "contentpolicy", "moderation", "modelnotfound", "unsupportedmodel"):
		return Refused, certain
	case has(n, "ratelimit", "throttl", "toomanyrequests"):
		return RateLimit, plain
	case has(n, "overload", "capacity") || strings.HasSuffix(n, "unavailable") || strings.HasSuffix(n, "busy"):
		return Overloaded, plain
	case strings.HasSuffix(n, "timeout") || strings.HasSuffix(n, "timedout"):
		return Timeout, plain
	case has(n, "quota"):
		return Quota, plain
	}
	return "", unknown
}

// grpcName is the word for a status code of gRPC, which gateways send as a number.
func grpcName(code int) string {
	names := []string{"", "cancelled", "unknown", "invalidargument", "deadlineexceeded", "notfound", "conflict",
		"permissiondenied", "resourceexhausted", "failedprecondition", "aborted", "outofrange", "unimplemented", "internal",
		"unavailable", "dataloss", "unauthenticated"}
	if code < 1 || code >= len(names) {
		return ""
	}
	return names[code]
}
