//! Clusters of processes on the loopback interface, which the tests start and stop.

mod cluster;
mod loss;
mod missing;
mod rows;
mod same;
