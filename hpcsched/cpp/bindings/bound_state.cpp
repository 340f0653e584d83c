#include "bindings/bound_state.hpp"

namespace hpcsched {

namespace {

OrderKind order_kind(nb::handle by_wait)
{
    if (by_wait.is_none()) return OrderKind::by_keys;
    return nb::cast<bool>(by_wait) ? OrderKind::by_wait : OrderKind::in_python;
}

std::optional<int64_t> optional_number(const Fields& fields, const char* name)
{
    if (!fields.has(name)) return std::nullopt;
    return fields.number<int64_t>(name);
}

Choices read_choices(nb::handle record, const Fields& fields)
{
    Choices choices{
        .rule = fields.number<Rule>("rule"),
        .depth = fields.number<int64_t>("depth"),
        .own_backfill_order = fields.number<bool>("own_backfill_order"),
        .allocator = fields.number<Allocator>("allocator"),
        .correction = fields.number<Correction>("correction"),
        .writes_places = fields.number<bool>("writes_places"),
        .relaxation = fields.number<double>("relaxation"),
        .order = order_kind(record.attr("by_wait")),
        .behind_order = order_kind(record.attr("behind_by_wait")),
        .scarce = fields.view<const bool>("scarce"),
        .external = nullptr,
        .compression = std::nullopt,
        .slack_share = fields.number<double>("slack_share"),
        .least_slack = fields.number<int64_t>("least_slack"),
        .window = optional_number(fields, "window"),
    };
    if (fields.has("compression")) choices.compression = fields.number<Compression>("compression");
    return choices;
}

Shapes read_shapes(const Fields& fields)
{
    return {
        .asked = fields.matrix<int64_t>("asked"),
        .on_idle = fields.matrix<int64_t>("on_idle"),
        .exclusive = fields.view<bool>("exclusive"),
        .uncountable = fields.view<bool>("uncountable"),
        .fitting = fields.view<int64_t>("fitting"),
        .waiting = fields.view<int64_t>("shape_waiting"),
        .active = fields.view<int64_t>("active"),
    };
}

Outages read_outages(const Fields& fields)
{
    return {
        .any_announced = fields.has("outage_nodes"),
        .start = fields.view<const int64_t>("outage_start"),
        .end = fields.view<const int64_t>("outage_end"),
        .first = fields.view<const int64_t>("outage_first"),
        .nodes = fields.view<const int64_t>("outage_nodes"),
        .any = fields.has("down"),
        .change_time = fields.view<const int64_t>("change_time"),
        .change_sign = fields.view<const int64_t>("change_sign"),
        .change_first = fields.view<const int64_t>("change_first"),
        .change_nodes = fields.view<const int64_t>("change_nodes"),
        .down = fields.view<int64_t>("down"),
        .closed = fields.view<bool>("closed"),
        .missed = fields.view<bool>("missed"),
        .clear_until = fields.view<int64_t>("clear_until"),
        .limits = fields.view<int64_t>("limits"),
        .requeue = fields.number<bool>("requeue"),
        .kind = fields.view<int64_t>("kind"),
        .may_use = fields.matrix<bool>("may_use"),
        .room = fields.view<int64_t>("room"),
        .narrowed = fields.view<int64_t>("narrowed"),
        .narrowed_span = fields.view<int64_t>("narrowed_span"),
    };
}

SharedResources read_shared_resources(const Fields& fields)
{
    return {
        .any = fields.has("shared_node"),
        .capacity = fields.view<const int64_t>("shared_capacity"),
        .first = fields.view<const int64_t>("shared_first"),
        .at = fields.view<const int64_t>("shared_at"),
        .offer = fields.view<const int64_t>("shared_offer"),
        .every = fields.view<const int64_t>("shared_every"),
        .period = fields.number<int64_t>("shared_period"),
        .settled = fields.number<int64_t>("shared_settled"),
        .own = fields.matrix<int64_t>("shared_own"),
        .node = fields.view<const int64_t>("shared_node"),
        .nodes = fields.view<int64_t>("shared_nodes"),
        .drawn = fields.view<int64_t>("shared_drawn"),
        .jobs_on = fields.view<int64_t>("shared_jobs_on"),
        .on_until = fields.view<int64_t>("shared_on_until"),
        .levels = fields.matrix<int64_t>("shared_levels"),
        .rounds = fields.number<int64_t>("shared_rounds"),
        .steps = {},
    };
}

Batch read_batch(const Fields& fields)
{
    return {
        .number = fields.view<const int64_t>("number"),
        .submit_time = fields.view<const int64_t>("submit_time"),
        .run_time = fields.view<const int64_t>("run_time"),
        // Python writes predictions, their keys and refusals while jobs are submitted.
        .predicted = fields.view<int64_t>("predicted"),
        .requested_time = fields.view<const int64_t>("requested"),
        .units = fields.view<const int64_t>("units"),
        .shape = fields.view<const int64_t>("shape"),
        .keys = fields.matrix<int64_t>("keys"),
        .behind_keys = fields.matrix<int64_t>("behind_keys"),
        .watched = fields.view<const bool>("watched"),
        .last = fields.number<bool>("last"),
        .refused = fields.view<int64_t>("refused"),
        .draws = fields.matrix<const int64_t>("draws"),
    };
}

Output read_output(const Fields& fields)
{
    return {
        .jobs = fields.records<LeftJob>("jobs"),
        .nodes = fields.view<int32_t>("nodes"),
        .units = fields.view<int32_t>("units"),
        .rounds = fields.matrix<int64_t>("rounds"),
        .decision_times = fields.view<double>("decision_times"),
    };
}

Followers read_followers(const Fields& fields)
{
    return {
        .any = fields.has("events"),
        .events = fields.records<Event>("events"),
        .start_nodes = fields.view<int32_t>("start_nodes"),
        .start_units = fields.view<int32_t>("start_units"),
        .hold_jobs = fields.has("turned"),
        .turned = fields.view<int64_t>("turned"),
    };
}

Flight read_flight(const Fields& fields)
{
    return {
        .takes_time = fields.has("lost"),
        .lost = fields.view<int64_t>("lost"),
        .by_python = fields.has("dismissed"),
        .dismissed = fields.view<int64_t>("dismissed"),
        .decision_seconds = fields.view<double>("decision_seconds"),
    };
}

Counters& read_counters(const Fields& fields)
{
    const View<int64_t> counters = fields.view<int64_t>("counters");
    if (counters.size() != counter_count) throw nb::value_error("counters");
    return *reinterpret_cast<Counters*>(counters.data());
}

}  // namespace

BoundState::BoundState(nb::handle tables, nb::handle shapes, nb::handle choices,
                       nb::handle outages, nb::handle followers, nb::handle flight,
                       nb::handle shared_resources, nb::handle batch, nb::handle output,
                       bool by_node)
{
    const auto fields = [this](nb::handle record) { return Fields(record, owners_); };
    const Fields of = fields(tables);
    state_.emplace(State{
        .by_node = by_node,
        .counters = read_counters(of),
        .capacity = {of.matrix<const int64_t>("capacity"), of.view<const int64_t>("totals")},
        .available = of.matrix<int64_t>("available"),
        .free_amounts = of.view<int64_t>("free_amounts"),
        .waiting_amounts = of.view<int64_t>("waiting_amounts"),
        .held_amounts = of.view<int64_t>("held_amounts"),
        .running_amounts = of.view<int64_t>("running_amounts"),
        .jobs = of.records<Job>("jobs"),
        .keys = of.matrix<int64_t>("keys"),
        .behind_keys = of.matrix<int64_t>("behind_keys"),
        .queue = of.view<int64_t>("queue"),
        .behind = of.view<int64_t>("behind"),
        .running = of.view<int64_t>("running"),
        .ends = of.view<int64_t>("ends"),
        .started = of.view<int64_t>("started"),
        .cells = of.records<Cell>("cells"),
        .interval_low = of.view<int64_t>("interval_low"),
        .interval_high = of.view<int64_t>("interval_high"),
        .first_slot = of.view<const int64_t>("first_slot"),
        .shapes = read_shapes(fields(shapes)),
        .choices = read_choices(choices, fields(choices)),
        .outages = read_outages(fields(outages)),
        .followers = read_followers(fields(followers)),
        .flight = read_flight(fields(flight)),
        .shared = read_shared_resources(fields(shared_resources)),
        .batch = read_batch(fields(batch)),
        .output = read_output(fields(output)),
    });
}

}  // namespace hpcsched
