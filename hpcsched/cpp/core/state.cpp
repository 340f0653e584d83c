#include "core/state.hpp"

#include <algorithm>
#include <numeric>


namespace hpcsched {

State::State(Matrix<const int64_t> of_node, int64_t types, View<const int64_t> first_slot,
             Choices choices, Manner manner, int64_t keys, int64_t behind_keys)
    : by_node(first_slot.size() == 1),
      manner(manner),
      choices(std::move(choices)),
      node_capacity(of_node),
      total_capacity(types),
      available(of_node.columns(), of_node.rows()),
      waiting_amounts(types),
      held_amounts(types),
      running_amounts(types),
      keys(0, keys),
      behind_keys(0, behind_keys),
      first_slot(first_slot)
{
    if (this->choices.learns_run_times || !this->choices.key_powers.empty() ||
        !this->choices.behind_key_powers.empty() || manner.follows)
        expected_run_times.emplace();
    if (expected_run_times || this->choices.rule == Rule::slurm_backfill)
        owners = Table<int64_t>(0, 2);
    const int64_t nodes = of_node.rows();
    for (int64_t node = 0; node < nodes; ++node) {
        for (int64_t r = 0; r < of_node.columns(); ++r) available(r, node) = of_node(node, r);
        for (int64_t r = 0; r < types; ++r) total_capacity[r] += of_node(node, r);
    }
    free_amounts = total_capacity;
    shapes.asked = Table<int64_t>(0, types);
    shapes.on_idle = Table<int64_t>(0, nodes);
    output.amounts = Table<int64_t>(0, 3 * types);
    shared.levels = Table<int64_t>(0, 1);
    flight.lost = Column<int64_t>(types);
    const int64_t slots = first_slot[first_slot.size() - 1];
    // Free intervals do not touch, so at most every other slot begins one.
    interval_low = interval_high = Column<int64_t>(slots / 2 + 2);
    interval_high[0] = counters.free_slots = slots;
    counters.intervals = slots != 0;
    search.random = this->choices.search.seed + 1;
}

void Output::keep_finished()
{
    const auto keep = [](Column<LeftJob>& kept, Places& of, int64_t count) {
        kept.resize(count);
        const int64_t last = count == 0 ? 0 : kept.back().last_place;
        of.nodes.resize(last);
        of.units.resize(last);
        if (!of.devices.empty()) of.devices.resize(last);
    };
    keep(jobs, places, finished.jobs);
    keep(lost, lost_places, finished.lost);
    rounds.resize(finished.rounds);
    amounts.resize(finished.rounds);
    decision_times.resize(finished.rounds);
}

void grow_rows(State& state, int64_t rows)
{
    const int64_t before = state.jobs.size();
    if (rows <= before) return;
    for (Column<int64_t>* column :
         {&state.queue, &state.behind, &state.running, &state.ends, &state.started})
        column->resize(rows);
    for (Table<int64_t>* table : {&state.keys, &state.behind_keys, &state.owners, &state.shared.own})
        table->resize(rows);
    state.jobs.resize(rows);
    // Unused rows are a list: each names the next.
    for (int64_t row = before; row < rows; ++row) state.jobs[row].number = row + 1;
    state.jobs.back().number = state.counters.free_row;
    state.counters.free_row = before;
}

void begin_batch(State& state, std::shared_ptr<Batch> batch)
{
    state.counters.next = 0;
    state.counters.foreseen = batch->is_predicted ? batch->number.size() : 0;
    state.batch = std::move(batch);
}

void add_shape(State& state, const UnitRequest& request, bool uncountable)
{
    Shapes& shapes = state.shapes;
    shapes.asked.add(request.asked);
    shapes.on_idle.add(request.on_idle);
    shapes.exclusive.add(request.exclusive);
    if (state.column_count() != state.type_count())
        shapes.devices.push_back(request.devices ? DeviceRequest(*request.devices)
                                                 : DeviceRequest{});
    shapes.uncountable.add(uncountable);
    shapes.fitting.add(0);
    shapes.waiting.add(0);
    shapes.nodes.add(std::ranges::count_if(request.on_idle, [](int64_t units) { return units != 0; }));
}

void keep_shapes(State& state, int64_t count)
{
    Shapes& shapes = state.shapes;
    for (Table<int64_t>* table : {&shapes.asked, &shapes.on_idle})
        table->resize(count);
    if (!shapes.devices.empty()) shapes.devices.resize(static_cast<size_t>(count));
    for (Column<Flag>* column : {&shapes.exclusive, &shapes.uncountable}) column->resize(count);
    for (Column<int64_t>* column : {&shapes.fitting, &shapes.waiting, &shapes.nodes})
        column->resize(count);
    Outages& outages = state.outages;
    if (!outages.any) return;
    outages.may_use.resize(count);
    for (Column<int64_t>* column :
         {&outages.kind, &outages.room, &outages.narrowed, &outages.narrowed_span})
        column->resize(count);
}

}  // namespace hpcsched
