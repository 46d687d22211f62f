# This rule judges CSIDrivers. It reads which tokens they request, and how they get them.
package placementguardcsidrivertokens

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.integer
import data.lib.placement_guard.items
import data.lib.placement_guard.part

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if placement_guard.elsewhere({{"group": "storage.k8s.io", "kind": "CSIDriver"}})

untouched if placement_guard.same(before, after)

# A driver without token requests gets no token.
untouched if after.spec.tokenRequests == []

before := judged(placement_guard.old)

after := judged(placement_guard.new)

default key := null

key := placement_guard.key("csiDriverTokens", before, after, {"name": placement_guard.name})

judged(driver) := {"spec": object.union(
	part(get(driver, "spec"), ["requiresRepublish", "serviceAccountTokenInSecrets"]),
	{"tokenRequests": [token(request) | some request in items(get(get(driver, "spec"), "tokenRequests"))]},
)}

token(request) := object.union(
	part(request, ["audience"]),
	{"expirationSeconds": integer(seconds) | seconds := request.expirationSeconds; seconds != null},
) if is_object(request)

token(request) := request if not is_object(request)
